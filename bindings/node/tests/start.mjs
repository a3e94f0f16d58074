// Measures, in new processes, how long it takes to load the package, to open a small tree and to make the
// first search; and how long the program takes to answer a client. Prints medians.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { performance } from 'node:perf_hooks';

const ROUNDS = 11;
const root = fs.mkdtempSync(path.join(os.tmpdir(), 'ripkit-node-'));
for (let i = 0; i < 100; i += 1) fs.writeFileSync(path.join(root, `${i}.md`), `file ${i}\n`.repeat(20));

const script = `
  const start = performance.now();
  const { Toolkit } = require('ripkit');
  const loaded = performance.now();
  new Toolkit(process.argv[1]).call('search', { pattern: 'file 77' }).then((answer) => {
    if (answer.data.matches !== 20) throw new Error(answer.text);
    console.log(loaded - start, performance.now() - start);
  });
`;
const median = (numbers) => numbers.sort((a, b) => a - b)[Math.floor(numbers.length / 2)];
const show = (what, numbers) => console.log(`${what}: ${median(numbers).toFixed(1)} ms`);

function spawned(command, args, options) {
  const start = performance.now();
  const { status, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8', ...options });
  if (status !== 0) throw new Error(stderr);
  return [performance.now() - start, stdout];
}

const rounds = (measure) => Array.from({ length: ROUNDS }, measure);
const searches = rounds(() => spawned(process.execPath, ['-e', script, root])[1].split(' ').map(Number));
show('loading the package', searches.map(([loaded]) => loaded));
show('loading the package, opening a tree of 100 files, and the first search', searches.map(([, all]) => all));
show('a process of Node that does nothing', rounds(() => spawned(process.execPath, ['-e', '0'])[0]));
const program = path.resolve('node_modules/.bin/ripkit');
const ping = { input: '{"jsonrpc":"2.0","id":1,"method":"ping"}\n' };
show('the program, from its start to its answer to a client', rounds(() => spawned(program, ['mcp', '--root', root], ping)[0]));
fs.rmSync(root, { recursive: true });
