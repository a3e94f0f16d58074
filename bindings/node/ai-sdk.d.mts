import type { Tool } from 'ai';
import type { CallOptions, Image, Toolkit } from './index.js';

/** The output of a tool, of which a model reads the text and the images. */
export interface ToolOutput {
  /** The text. */
  text: string;
  /** The data for a program. */
  data: any;
  /** The images. */
  images: readonly Image[];
}

/**
 * The tools for `generateText`, `streamText` and agents of the AI SDK, by name.
 *
 * A failure is thrown as a `RipkitError`, which the SDK gives the model as the error of the tool, with the text
 * by which the model corrects itself. `ToolCall.id` is the id of the model's call. The `abortSignal` of a
 * generation stops its calls. The options are those of every call.
 */
export function toolsOf(
  toolkit: Toolkit,
  options?: Pick<CallOptions, 'onProgress' | 'timeoutMs'>,
): Record<string, Tool<any, ToolOutput>>;
