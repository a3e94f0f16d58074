// Tests of the program in the installed package.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { after, test } from 'node:test';

const program = path.resolve('node_modules/.bin/ripkit');
const root = fs.mkdtempSync(path.join(os.tmpdir(), 'ripkit-node-'));
fs.writeFileSync(path.join(root, 'notes.md'), 'buy milk\n');
after(() => fs.rmSync(root, { recursive: true }));

test('npx runs it, with its output and status', () => {
  // As rg does, it would search a pipe in the place of the tree.
  const options = { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] };
  const run = (...args) => spawnSync('npx', ['--no-install', 'ripkit', ...args, '--root', root], options);
  const found = run('search', '-n', 'milk');
  assert.deepEqual([found.status, found.stdout], [0, 'notes.md:1:buy milk\n'], found.stderr);
  assert.equal(run('search', 'beer').status, 1);
  assert.equal(run('serach', 'milk').status, 2);
});

test('it serves a client until its input ends, or a signal comes', async () => {
  const initialize = {
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '0' } },
  };
  for (const end of [(server) => server.stdin.end(), (server) => server.kill('SIGTERM')]) {
    const server = spawn(program, ['mcp', '--root', root], { stdio: ['pipe', 'pipe', 'inherit'] });
    server.stdin.write(JSON.stringify(initialize) + '\n');
    const [line] = await once(createInterface({ input: server.stdout }), 'line');
    assert.equal(JSON.parse(line).result.serverInfo.name, 'ripkit');
    end(server);
    assert.deepEqual(await once(server, 'exit'), [0, null]);
  }
});
