// Routes a message to a handler of the gateway. The adapter's own rule is for messages of another form.

import { TYPES } from './message.js';

/** The handler of everything except joins, draws and leaves. */
export const UNKNOWN = 'unknown';

/** The argument of a handler: a message to check, and its original text. */
export type Received = { message: unknown; text: string };

/**
 * Returns the handler's name and its argument. It does not throw, because Nest would log a line for each bad message.
 */
export function routeMessage(data: unknown): { event: string; data: Received } {
  const text = typeof data === 'string' ? data : ''; // a binary frame is not JSON either
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
