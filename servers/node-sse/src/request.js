// The requests of a client: parses the query and the header Last-Event-ID, and checks both.

import { CHARACTERS } from './text.js';

const MAX_PACE = 1000;

/** Its message is the reason that is sent to the client. */
export class BadRequest extends Error {}

/**
 * Returns the number of the first character, and how many are due a second (undefined: there is no pause).
 *
 * @throws {BadRequest} unless both are integers in their range
 */
export function parseRequest({ url, headers }) {
  const query = new URLSearchParams(url.split('?', 2)[1]);
  const pace = query.has('pace') ? parseInteger('pace', query.getAll('pace').join(), 1, MAX_PACE) : undefined;
  const id = headers['last-event-id'];
  const first = id === undefined ? 0 : parseInteger('Last-Event-ID', id, 0, CHARACTERS.length - 1) + 1;
  return { first, pace };
}

/** Accepts decimal digits without a sign or a leading zero. */
function parseInteger(name, text, least, most) {
  const number = Number(text);
  if (!Number.isInteger(number) || String(number) !== text || number < least || number > most) {
    throw new BadRequest(`${name} must be an integer from ${least} to ${most}`);
  }
  return number;
}
