'use strict';

const { fileURLToPath } = require('node:url');
const native = require('./platform.js').native();

class RipkitError extends Error {
  constructor(code, message) {
    super(message);
    this.name = 'RipkitError';
    this.code = code;
  }
}

class Answer {
  constructor(json) {
    const { text, details, is_error: isError, code, notes, content } = JSON.parse(json);
    const images = content.filter((part) => part.type === 'image');
    this.text = text;
    this.data = details;
    this.isError = isError;
    this.code = code;
    this.notes = notes;
    this.images = images.map(({ data, mimeType }) => ({ data, mimeType }));
  }

  check() {
    if (this.isError) {
      throw new RipkitError(this.code, this.data.message);
    }
    return this;
  }

  toString() {
    return this.text;
  }
}

class Workspace {
  constructor(root = '.', options = {}) {
    this.root = root instanceof URL ? fileURLToPath(root) : root;
    this.options = options;
  }
}

class Toolkit {
  #native;

  constructor(workspace = '.', { ownTools = [], ...options } = {}) {
    // What `withTools` makes of another toolkit.
    const isOpen = workspace instanceof native.Toolkit;
    const opened = isOpen ? workspace : open(workspace, options);
    this.#native = ownTools.reduce(withTool, opened);
  }

  async call(name, args = {}, { signal, onProgress, timeoutMs, id } = {}) {
    const cancel = new native.Cancel();
    const abort = () => cancel.cancel();
    let failure;
    const report = (files, results) => {
      try {
        // An exception ends the call, also when it comes after later reports.
        onProgress?.({ files, results });
      } catch (error) {
        failure ??= { error };
        abort();
      }
    };
    const json = typeof args === 'string' ? args : JSON.stringify(args);
    const conditions = { id, timeoutMs, reports: onProgress !== undefined };
    const forget = whenAborted(signal, abort);
    try {
      const answer = await new Promise((resolve) => {
        const onEvent = (answer, files, results) =>
          answer === null ? report(files, results) : resolve(answer);
        checked(() => this.#native.call(name, json, cancel, conditions, onEvent));
      });
      if (failure) {
        throw failure.error;
      }
      return new Answer(answer);
    } finally {
      forget();
    }
  }

  specs(format = 'mcp') {
    return JSON.parse(checked(() => this.#native.specs(format)));
  }

  names() {
    return this.#native.names();
  }

  withTools(...ownTools) {
    return new Toolkit(this.#native, { ownTools });
  }

  skillsPrompt() {
    return this.#native.skillsPrompt();
  }

  get root() {
    return this.#native.root;
  }

  close() {
    checked(() => this.#native.saveIndex());
  }
}

/** The calls that a signal stops, which has one listener for all: Node warns of more than ten. */
const stoppedBy = new WeakMap();

/** Runs `stop` once the signal is aborted; returns what ends this. */
function whenAborted(signal, stop) {
  if (signal === undefined) {
    return () => {};
  }
  if (signal.aborted) {
    stop();
  }
  let stops = stoppedBy.get(signal);
  if (stops === undefined) {
    const all = new Set();
    stops = { all, run: () => all.forEach((each) => each()) };
    stoppedBy.set(signal, stops);
    signal.addEventListener('abort', stops.run);
  }
  stops.all.add(stop);
  return () => {
    stops.all.delete(stop);
    if (stops.all.size === 0) {
      stoppedBy.delete(signal);
      signal.removeEventListener('abort', stops.run);
    }
  };
}

/** Runs `work`; an error of the native part, which has a code, becomes a `RipkitError`. */
function checked(work) {
  try {
    return work();
  } catch (error) {
    throw /^[A-Z_]+$/.test(error?.code) ? new RipkitError(error.code, error.message) : error;
  }
}

function open(given, options) {
  const workspace = given instanceof Workspace ? given : new Workspace(given);
  const json = JSON.stringify(renamed({ ...workspace.options, ...options }));
  try {
    return checked(() => native.Toolkit.open(workspace.root, json));
  } catch (error) {
    if (error.code === 'INVALID_ARGUMENT') {
      error.message = withOptionsAsWritten(error.message);
    }
    throw error;
  }
}

/** A message about options with their names in JavaScript; paths, values and names of tools are kept. */
function withOptionsAsWritten(message) {
  const camelCase = (text) =>
    text.replace(/\b[a-z]+(?:_[a-z]+)+\b/g, (name) => name.replace(/_(.)/g, (_, letter) => letter.toUpperCase()));
  const names = /^the options cannot be used: (\w+: )?(unknown field.*)?|^index_directory is given|^allow_commands:/s;
  return message.replace(names, camelCase);
}

/** Options under the names that all languages share: `readOnly` is `read_only`. */
function renamed(options) {
  const entries = Object.entries(options).map(([name, value]) => {
    // Names of environment variables, in `commands.environment`, are kept.
    const isGroup = name === 'limits' || name === 'commands';
    const shared = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    return [shared, isGroup && value ? renamed(value) : value];
  });
  return Object.fromEntries(entries);
}

/** The toolkit with one more tool, which is a function of the host. */
function withTool(toolkit, { name, description, schema, effect, long, run }) {
  const controllers = new Map();

  async function carryOut(number, invocation) {
    const controller = new AbortController();
    controllers.set(number, controller);
    try {
      const report = (files, results = 0) => invocation.report(files, results);
      const call = { id: invocation.id ?? undefined, signal: controller.signal, report };
      const { text, data, images } = parts(name, await run(JSON.parse(invocation.arguments), call));
      invocation.reply(text, data, images);
    } catch (error) {
      if (error instanceof RipkitError) {
        invocation.fail(error.code, error.message);
      } else if (controller.signal.aborted && error?.name === 'AbortError') {
        invocation.fail(invocation.stopCode, 'the function was stopped');
      } else {
        invocation.fail('INTERNAL', `${name} failed with ${error}`);
      }
    } finally {
      controllers.delete(number);
    }
  }

  const onEvent = (number, invocation) =>
    // Without an invocation, an earlier one should stop.
    invocation === null ? controllers.get(number)?.abort() : void carryOut(number, invocation);
  const definition = JSON.stringify({ name, description, schema, effect, long });
  return checked(() => toolkit.withTool(definition, onEvent));
}

/** What the function of a tool returned, in native form. */
function parts(name, result) {
  const { text, data, images = [] } = typeof result === 'string' ? { text: result } : (result ?? {});
  if (typeof text !== 'string') {
    throw new TypeError(`${name} returned neither a string nor an object with a text`);
  }
  return { text, data: data === undefined ? '' : JSON.stringify(data), images };
}

exports.Answer = Answer;
exports.RipkitError = RipkitError;
exports.Toolkit = Toolkit;
exports.Workspace = Workspace;
exports.version = native.version();
