// Which handler of the gateway a message goes to. The adapter's own rule is for messages of another form.

import { TYPES } from './message.js';

/** The handler of what is no join, draw or leave. */
export const UNKNOWN = 'unknown';

/** What a handler gets: a message that is to be checked, and the text that it came as. */
export type Received = { message: unknown; text: string };

/** Returns the handler's name and what it gets. It does not throw, for Nest would log a line for each bad message. */
export function routeMessage(data: unknown): { event: string; data: Received } {
  const text = typeof data === 'string' ? data : ''; // a binary frame is no JSON either
  const message = parseJson(text);
  return { event: TYPES.find((type) => type === message?.type) ?? UNKNOWN, data: { message, text } };
}

function parseJson(text: string): { type?: unknown } | null | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
