// The types of the package for CommonJS.
import ripkit = require('ripkit');

export const tools: ripkit.Toolkit = new ripkit.Toolkit('.', { readOnly: true });
