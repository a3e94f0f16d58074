// The package as CommonJS, and what happens when the process ends.
const assert = require('node:assert/strict');
const { spawnSync } = require('node:child_process');
const { test } = require('node:test');

/** Runs a script in a new process of Node; returns its output. */
function run(script, ...flags) {
  const options = { encoding: 'utf8', timeout: 60_000 };
  const { status, stdout, stderr } = spawnSync(process.execPath, [...flags, '-e', script], options);
  assert.equal(status, 0, stderr);
  return stdout;
}

test('the package is the same by require', async () => {
  const { Toolkit, RipkitError, version } = require('ripkit');
  const imported = await import('ripkit');
  assert.equal(imported.Toolkit, Toolkit);
  assert.equal(imported.RipkitError, RipkitError);
  assert.equal(imported.version, version);
});

test('an open toolkit does not keep the process alive, and a call does', () => {
  const open = "const { Toolkit } = require('ripkit'); const tools = new Toolkit('.', { ownTools: [{ name: 'own', effect: 'read', run: () => 'own' }] });";
  assert.equal(run(open), '');
  assert.equal(run(`${open} tools.call('own').then(({ text }) => console.log(text))`), 'own\n');
  // Nor does a call that is over, also if its objects are never collected as garbage.
  assert.equal(run(`${open} tools.call('own', {}, { onProgress() {} })`, '--no-memory-reducer'), '');
});

test('the process can end during a call', () => {
  run("const { Toolkit } = require('ripkit'); new Toolkit('.', { ownTools: [{ name: 'own', effect: 'read', run: () => process.exit(0) }] }).call('own');");
});
