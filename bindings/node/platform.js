'use strict';

// Finds what is native: npm installs the package for its system beside this one. In a clone, `build.sh --library`
// puts the module for this machine here, and there is no program.

const { existsSync } = require('node:fs');
const { join } = require('node:path');
const { arch, platform, report } = process;

const local = join(__dirname, 'ripkit.node');

/** The packages that may be for this system: on Linux one for each C library. */
const candidates =
  platform === 'linux' ? [`linux-${arch}-gnu`, `linux-${arch}-musl`] : [`${platform}-${arch}`];

function path(file) {
  const found = candidates.flatMap((name) => {
    try {
      return [require.resolve(`@ripkit/${name}/${file}`)];
    } catch {
      return [];
    }
  });
  if (found.length === 0) {
    const names = candidates.map((name) => `@ripkit/${name}`).join(' or ');
    throw new Error(
      `ripkit: there is no ${names} of this version. npm installs it with ripkit where there is one; ` +
        'an installation with --omit=optional, or copied from another system, lacks it' +
        (existsSync(local) ? '; a module built by `build.sh --library` has no program beside it' : ''),
    );
  }
  // Some package managers install both. The report tells which C library Node runs on, and can be slow.
  const isMusl = found.length > 1 && !report.getReport().header.glibcVersionRuntime;
  return found[isMusl ? 1 : 0];
}

/** The native module. */
exports.native = () => require(existsSync(local) ? local : path('ripkit.node'));

/** The path of the program. */
exports.program = () => path(platform === 'win32' ? 'bin/ripkit.exe' : 'bin/ripkit');
