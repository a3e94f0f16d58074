// The types of the package for CommonJS.
import ripkit = require('ripkit');
import platform = require('ripkit/platform');

export const tools: ripkit.Toolkit = new ripkit.Toolkit('.', { readOnly: true });
export const program: string = platform.program();
