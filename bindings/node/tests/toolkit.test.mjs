// Tests of the installed package.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import { Answer, RipkitError, Toolkit, version, Workspace } from 'ripkit';
import { program } from 'ripkit/platform';

const root = fs.mkdtempSync(path.join(os.tmpdir(), 'ripkit-node-'));
fs.writeFileSync(path.join(root, 'notes.md'), 'buy milk\n');
after(() => fs.rmSync(root, { recursive: true }));

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

/** A tool that waits until its call is stopped. */
const waiting = (started = () => {}) => ({
  name: 'wait',
  effect: 'read',
  run: (_, call) =>
    new Promise((resolve) => {
      call.signal.addEventListener('abort', () => resolve('stopped'));
      started(call);
    }),
});

/** Long enough for a loaded machine. */
const PATIENCE = 60_000;

/** The function of a call sees that it was stopped; on a loaded machine the call does not wait for it. */
async function sawTheStop(call, answer) {
  assert.ok(answer.text === 'stopped' || answer.code === 'CANCELLED', answer.text);
  const deadline = Date.now() + PATIENCE;
  while (!call.signal.aborted && Date.now() < deadline) await sleep(5);
  assert.ok(call.signal.aborted);
}

test('a call resolves to text for a model and data for a program', async () => {
  const tools = new Toolkit(root);
  const answer = await tools.call('search', { pattern: 'milk' });
  assert.ok(answer instanceof Answer);
  assert.equal(answer.text, 'notes.md\n1:buy milk');
  assert.equal(String(answer), answer.text);
  assert.equal(answer.data.matches, 1);
  assert.deepEqual([answer.isError, answer.code, answer.notes, answer.images], [false, null, [], []]);
  assert.equal(answer.check(), answer);
  assert.equal((await tools.call('search', '{"pattern": "milk"}')).text, answer.text);
  assert.equal(tools.root, fs.realpathSync(root));
  assert.equal(new Toolkit(pathToFileURL(root)).root, tools.root);
});

test('a failed call resolves too, and check() throws it', async () => {
  const answer = await new Toolkit(root).call('read_file', { path: 'no.md' });
  assert.equal(answer.isError, true);
  assert.equal(answer.code, 'FILE_NOT_FOUND');
  assert.match(answer.text, /no\.md.*\[FILE_NOT_FOUND\]$/s);
  assert.throws(() => answer.check(), (error) => {
    assert.ok(error instanceof RipkitError && error instanceof Error);
    assert.deepEqual([error.name, error.code], ['RipkitError', 'FILE_NOT_FOUND']);
    assert.equal(error.message, answer.data.message);
    return true;
  });
});

test('what the host does wrong is thrown with a code', async () => {
  const code = (code) => (error) => error instanceof RipkitError && error.code === code;
  assert.throws(() => new Toolkit(path.join(root, 'missing')), code('FILE_NOT_FOUND'));
  assert.throws(() => new Toolkit(root, { readonly: true }), /unknown field `readonly`/);
  assert.throws(() => new Toolkit(root, { limits: { files: 1 } }), code('INVALID_ARGUMENT'));
  const said = (message) => ({ code: 'INVALID_ARGUMENT', message });
  const opened = (options) => () => new Toolkit(root, options);
  assert.throws(opened({ readOnley: true }), said(/unknown field `readOnley`.* `readOnly`, .* `noOuterIgnores`/));
  assert.throws(opened({ readOnly: 'so_so' }), said(/^the options cannot be used: readOnly: .*"so_so"/));
  assert.throws(opened({ index: 'off', indexDirectory: '/x' }), said(/^indexDirectory is given/));
  assert.throws(() => new Toolkit(root).specs('xml'), code('INVALID_ARGUMENT'));
  assert.throws(() => new Toolkit(7), /string/i);
  await assert.rejects(new Toolkit(root).call(7), /string/i);
  await assert.rejects(new Toolkit(root).call('search', {}, { timeoutMs: -1 }), code('INVALID_ARGUMENT'));
  await assert.rejects(new Toolkit(root).call('search', { pattern: 1n }), TypeError);
});

test('the options of JavaScript are those of all languages', async () => {
  const tools = new Toolkit(root, {
    readOnly: true,
    textStyle: 'seed',
    tools: ['search', 'read_file'],
    index: 'off',
    limits: { pageLines: 1 },
    commands: { environment: { myVariable: 'kept' } },
  });
  assert.deepEqual(tools.names(), ['search', 'read_file']);
  assert.equal((await tools.call('search', { pattern: 'milk' })).text, 'notes.md:1:buy milk');
  assert.equal((await tools.call('write_file', { path: 'x', content: '' })).code, 'READ_ONLY');
});

test('a workspace has the rules for access to its files', async () => {
  const workspace = new Workspace(pathToFileURL(root), { readOnly: true, deny: ['*.md'] });
  const tools = new Toolkit(workspace, { index: 'off' });
  assert.equal(tools.names().includes('write_file'), false);
  assert.equal((await tools.call('read_file', { path: 'notes.md' })).code, 'POLICY_DENIED');
  assert.throws(() => new Toolkit(new Workspace(root, { readonly: true })), /unknown field `readonly`/);
});

test('tools are described for each provider', () => {
  const tools = new Toolkit(root);
  assert.equal(tools.specs()[0].name, 'search');
  assert.equal(tools.specs('openai')[0].function.name, 'search');
  assert.equal(tools.specs('gemini')[0].functionDeclarations[0].name, 'search');
  assert.equal(tools.skillsPrompt(), '');
});

test('images have their bytes and type', async () => {
  fs.writeFileSync(path.join(root, 'dot.png'), Buffer.from(PIXEL, 'base64'));
  const answer = await new Toolkit(root).call('read_file', { path: 'dot.png' });
  assert.deepEqual(answer.images, [{ data: PIXEL, mimeType: 'image/png' }]);
});

test('calls run at the same time, and the event loop goes on', async () => {
  const [COUNT, started] = [12, []];
  let allStarted;
  const ready = new Promise((resolve) => { allStarted = resolve; });
  const own = waiting((call) => { if (started.push(call) === COUNT) allStarted(); });
  const tools = new Toolkit(root, { ownTools: [own] });
  const warnings = [];
  process.on('warning', (warning) => warnings.push(warning.message));
  // More than the threads of Node's own pool, and than the listeners of a signal without a warning.
  const controller = new AbortController();
  const { signal } = controller;
  const calls = Array.from({ length: COUNT }, () => tools.call('wait', {}, { signal }));
  assert.equal(await fs.promises.readFile(path.join(root, 'notes.md'), 'utf8'), 'buy milk\n');
  assert.equal((await tools.call('search', { pattern: 'milk' })).data.matches, 1);
  await ready;
  controller.abort();
  const answers = await Promise.all(calls);
  await Promise.all(started.map((call, index) => sawTheStop(call, answers[index])));
  assert.deepEqual(warnings, []);
});

test('a signal stops a call, before it starts and while it runs', async () => {
  const tools = new Toolkit(root);
  const stopped = await tools.call('search', { pattern: 'x' }, { signal: AbortSignal.abort() });
  assert.equal(stopped.code, 'CANCELLED');
  const controller = new AbortController();
  let started;
  const own = waiting((call) => {
    started = call;
    controller.abort();
  });
  const answer = await tools.withTools(own).call('wait', {}, { signal: controller.signal });
  await sawTheStop(started, answer);
  assert.deepEqual(tools.names().includes('wait'), false);
});

test('the time of a call is limited', async () => {
  const tools = new Toolkit(root, { ownTools: [waiting()] });
  const { text, code } = await tools.call('wait', {}, { timeoutMs: 20 });
  // If the time was over before the tool began, it was not called.
  assert.ok(text === 'stopped' || code === 'TIMEOUT', text);
});

test('own tools get checked arguments, and return text, data and images', async () => {
  let seen;
  const image = { data: PIXEL, mimeType: 'image/png' };
  const tools = new Toolkit(root, {
    readOnly: true,
    ownTools: [{
      name: 'paint',
      description: 'Paints.',
      effect: 'read',
      schema: { type: 'object', properties: { size: { type: 'integer' } }, required: ['size'] },
      async run(args, call) {
        seen = [args, call.id, call.signal.aborted];
        return { text: 'painted', data: [1], images: [image] };
      },
    }],
  });
  const answer = await tools.call('paint', { size: 3 }, { id: 'call-7' });
  assert.deepEqual(seen, [{ size: 3 }, 'call-7', false]);
  assert.equal(answer.check().text, 'painted');
  assert.deepEqual([answer.data, answer.images], [[1], [image]]);
  assert.equal((await tools.call('paint', {})).code, 'INVALID_ARGUMENT');
  assert.equal(tools.specs('anthropic').at(-1).name, 'paint');
});

test('what an own tool throws is the failure that the model reads', async () => {
  const failing = (name, run) => ({ name, effect: 'read', run });
  const tools = new Toolkit(root, {
    ownTools: [
      failing('deny', () => { throw new RipkitError('POLICY_DENIED', 'not on a Sunday'); }),
      failing('crash', async () => { throw new RangeError('too far'); }),
      failing('nothing', () => {}),
      failing('throws_nothing', () => { throw undefined; }),
    ],
  });
  const text = async (name) => (await tools.call(name)).text;
  assert.equal(await text('deny'), 'not on a Sunday [POLICY_DENIED]');
  assert.equal(await text('crash'), 'crash failed with RangeError: too far [INTERNAL]');
  assert.match(await text('nothing'), /nothing returned neither a string nor an object with a text/);
  assert.equal(await text('throws_nothing'), 'throws_nothing failed with undefined [INTERNAL]');
});

test('the abort of its signal, thrown by an own tool, has the code of the stopped call', async () => {
  const controller = new AbortController();
  const nap = {
    name: 'nap',
    effect: 'read',
    async run(_, { signal }) {
      controller.abort();
      await sleep(PATIENCE, 'rested', { signal });
    },
  };
  const tools = new Toolkit(root, { ownTools: [nap] });
  assert.equal((await tools.call('nap', {}, { signal: controller.signal })).code, 'CANCELLED');
  assert.equal((await tools.call('nap', {}, { timeoutMs: 20 })).code, 'TIMEOUT');
});

test('a tool that does not describe itself, or that changes where only reading is allowed, is refused', () => {
  const run = () => '';
  const open = (tool) => () => new Toolkit(root, { readOnly: true, ownTools: [tool] });
  assert.throws(open({ name: 'a b', effect: 'read', run }), { code: 'INVALID_ARGUMENT' });
  assert.throws(open({ name: 'drop', run }), { code: 'READ_ONLY' });
});

test('an own tool reports progress, and calls other tools', async () => {
  const tools = new Toolkit(root);
  const outer = tools.withTools({
    name: 'outer',
    effect: 'read',
    async run(_, call) {
      call.report(3, 1);
      const { data } = await tools.call('search', { pattern: 'milk' }, { signal: call.signal });
      return `${data.matches} found`;
    },
  });
  const reports = [];
  const answer = await outer.call('outer', {}, { onProgress: (report) => reports.push(report) });
  assert.equal(answer.text, '1 found');
  assert.deepEqual(reports, [{ files: 3, results: 1 }]);
});

test('an exception in onProgress stops the call and rejects', async () => {
  const tools = new Toolkit(root, { ownTools: [waiting((call) => call.report(1))] });
  const onProgress = () => { throw new Error('enough'); };
  await assert.rejects(tools.call('wait', {}, { onProgress }), /^Error: enough$/);
});

test('listeners are removed from a signal after the call', async () => {
  const { signal } = new AbortController();
  let listeners = 0;
  const count = (name, change) => {
    const original = signal[name];
    signal[name] = (...args) => { listeners += change; return original.apply(signal, args); };
  };
  count('addEventListener', 1);
  count('removeEventListener', -1);
  const answer = await new Toolkit(root).call('search', { pattern: 'milk' }, { signal });
  assert.deepEqual([answer.isError, listeners], [false, 0]);
});

test('a worker that is terminated during a call leaves the process intact', async () => {
  const code = `
    const { parentPort, workerData } = require('node:worker_threads');
    const { Toolkit } = require(workerData.package);
    const wait = { name: 'wait', effect: 'read', run: () => { parentPort.postMessage('started'); return new Promise(() => {}); } };
    new Toolkit(workerData.root, { ownTools: [wait] }).call('wait');
  `;
  for (let round = 0; round < 5; round += 1) {
    const workerData = { root, package: path.resolve('node_modules/ripkit') };
    const worker = new Worker(code, { eval: true, workerData });
    await once(worker, 'message');
    await worker.terminate();
  }
  assert.equal((await new Toolkit(root).call('search', { pattern: 'milk' })).data.matches, 1);
});

test('the package has the version of the program', () => {
  const { version: packed } = JSON.parse(fs.readFileSync('node_modules/ripkit/package.json', 'utf8'));
  assert.equal(version, packed);
});

test('the package has the licences of the crates in the module and in the program', () => {
  const native = path.dirname(path.dirname(program()));
  const licences = fs.readFileSync(path.join(native, 'LICENSES-OF-CRATES.txt'), 'utf8');
  for (const crate of ['napi', 'clap', 'grep-regex']) assert.match(licences, new RegExp(`^${crate}-[0-9.]+: .*MIT`, 'm'));
});
