#!/usr/bin/env node
'use strict';

// Starts the native program with its arguments, streams and signals. A client that wants no process of Node
// in between starts the program itself: `require('ripkit/platform').program()` is its path.

const { spawn } = require('node:child_process');
const { program } = require('../platform.js');

function path() {
  try {
    return program();
  } catch (error) {
    console.error(error.message);
    process.exit(2);
  }
}

const child = spawn(path(), process.argv.slice(2), { stdio: 'inherit' });
// A terminal sends SIGINT to both; whoever kills this process means the program.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, () => signal === 'SIGINT' || child.kill(signal));
}
child.on('error', (error) => {
  console.error(`ripkit: ${error.message}`);
  process.exitCode = 2;
});
child.on('exit', (code, signal) => {
  if (signal === null) {
    process.exitCode = code;
    return;
  }
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
});
