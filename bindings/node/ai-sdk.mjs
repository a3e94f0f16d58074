// The tools of a toolkit for Vercel's AI SDK.

import { jsonSchema, tool } from 'ai';
import { RipkitError } from './index.js';

export function toolsOf(toolkit, { onProgress, timeoutMs } = {}) {
  const adapted = ({ name, description, inputSchema }) =>
    tool({
      description,
      inputSchema: jsonSchema(inputSchema),
      async execute(args, { abortSignal: signal, toolCallId: id }) {
        const answer = await toolkit.call(name, args, { signal, id, onProgress, timeoutMs });
        if (answer.isError) {
          throw new RipkitError(answer.code, answer.text);
        }
        const { text, data, images } = answer;
        return { text, data, images };
      },
      toModelOutput: ({ output }) => modelOutput(output),
    });
  return Object.fromEntries(toolkit.specs().map((spec) => [spec.name, adapted(spec)]));
}

/** What a model reads: the text, and images as files. */
function modelOutput({ text, images }) {
  if (images.length === 0) {
    return { type: 'text', value: text };
  }
  const files = images.map(({ data, mimeType }) => ({
    type: 'file',
    mediaType: mimeType,
    data: { type: 'data', data },
  }));
  return { type: 'content', value: [{ type: 'text', text }, ...files] };
}
