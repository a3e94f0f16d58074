// Checked by `tsc --strict`: what the types allow, and what they refuse.
import type { ToolSet } from 'ai';
import { Answer, RipkitError, Toolkit, version, Workspace, type Options, type OwnTool } from 'ripkit';
import { toolsOf } from 'ripkit/ai-sdk';
import { program } from 'ripkit/platform';

const options: Options = {
  readOnly: true,
  deny: ['.env'],
  index: 'exact',
  limits: { textBytes: 10_000, timeMs: 5000 },
  commands: { environment: { LANG: 'C' }, shell: ['/bin/sh', '-c'] },
};
const paint: OwnTool = {
  name: 'paint',
  schema: { type: 'object' },
  effect: 'read',
  async run({ size }: { size: number }, call) {
    call.report(size);
    return { text: call.id ?? version, data: [call.signal.aborted] };
  },
};

export async function use(): Promise<string | null> {
  const tools: Toolkit = new Toolkit(new URL('file:///tmp'), { ...options, ownTools: [paint] });
  const other: Toolkit = new Toolkit(new Workspace('.', { deny: ['*.key'] }), { index: 'off' });
  const controller = new AbortController();
  const answer: Answer = await tools.call('search', { pattern: 'x' }, {
    signal: controller.signal,
    onProgress: ({ files, results }) => controller.abort(files + results),
    timeoutMs: 1000,
  });
  try {
    answer.check();
  } catch (error) {
    if (error instanceof RipkitError) return error.code;
  }
  const { data, mimeType } = answer.images[0] ?? { data: '', mimeType: '' };
  const ofSdk: ToolSet = toolsOf(tools, { timeoutMs: 1000 });
  tools.withTools(paint).close();
  return [data, mimeType, ...answer.notes, ...tools.names(), ...tools.specs('gemini'), other.root, program(), ofSdk].join();
}

// @ts-expect-error: an option that there is not
new Toolkit('.', { readonly: true });
// @ts-expect-error: a format that there is not
new Toolkit('.').specs('xml');
// @ts-expect-error: a signal is that of the generation
toolsOf(new Toolkit('.'), { signal: AbortSignal.abort() });
// @ts-expect-error: only the package makes answers
new Answer();
// @ts-expect-error: a tool needs a function
const nothing: OwnTool = { name: 'nothing' };
// @ts-expect-error: a result has a text
const numbers: OwnTool = { name: 'numbers', run: () => 7 };
void [nothing, numbers];
