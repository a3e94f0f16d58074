// Makes the calls of `bindings/cases.py`, which explains the lines.
import { createInterface } from 'node:readline';
import { Toolkit, RipkitError } from 'ripkit';

let tools;

/** The answer in the form that is common to all languages. */
const shared = ({ text, data, isError, code, notes }) =>
  ({ text, details: data, is_error: isError, code, notes });

// The options have their shared names, which stay as they are.
function open(root, options) {
  try {
    tools = new Toolkit(root, JSON.parse(options));
    return null;
  } catch (error) {
    if (!(error instanceof RipkitError)) throw error;
    return { text: error.message, code: error.code };
  }
}

for await (const line of createInterface({ input: process.stdin, terminal: false })) {
  const [what, first, second] = line.split('\t');
  const answer = what === 'open' ? open(first, second) : shared(await tools.call(first, second));
  process.stdout.write(JSON.stringify(answer) + '\n');
}
