// The messages of a client: checks the arguments of one event, and the body of a request for matchmaking. It does not
// depend on rooms or connections.

import { TEXT } from './text.js';

const MAX_KEYS = 16;
const DEFAULT_CHARACTERS = 150;

/** Its message is the reason that is sent to the client. */
export class Refused extends Error {}

const id = [
  (value) => typeof value === 'string' && /^[\w-]{1,64}$/.test(value),
  '1 to 64 characters of A-Z a-z 0-9 - _',
];
const count = [(value) => Number.isSafeInteger(value) && value >= 0, 'an integer from 0 to 2^53 - 1'];
const keys = [isKeys, `1 to ${MAX_KEYS} characters`];

/** The fields of the only message of each event. */
const EVENTS = new Map([
  ['pvp:join', { roomId: id, userId: id }],
  ['pvp:keystrokes', { roomId: id, userId: id, seq: count, sentAt: count, keys }],
  ['ping', { sentAt: count }],
]);
const ACKNOWLEDGED = ['pvp:join', 'ping'];

/** @throws {Refused} unless the arguments are those of the event. Fields beyond the known ones are allowed. */
export function checkEvent(event, [message, ...rest]) {
  const fields = EVENTS.get(event);
  if (!fields) throw new Refused(`the event must be ${[...EVENTS.keys()].join(', ')}`);
  checkFields(message, fields);
  // Socket.IO adds a function after the arguments if the client waits for an acknowledgement.
  const acknowledged = typeof rest[0] === 'function';
  if (rest.length > (acknowledged ? 1 : 0)) throw new Refused('an event must have one message');
  if (ACKNOWLEDGED.includes(event) && !acknowledged) throw new Refused(`${event} must ask for an acknowledgement`);
}

/**
 * Returns the user who wants to play, and the number of characters.
 *
 * @throws {Refused} unless the text is a request for matchmaking
 */
export function parseMatchmaking(text) {
  let body;
  try {
    body = JSON.parse(text);
  } catch {
    throw new Refused('the body must be JSON');
  }
  checkFields(body, { userId: id });
  const { userId, characters = DEFAULT_CHARACTERS } = body;
  if (!Number.isInteger(characters) || characters < 1 || characters > TEXT.length) {
    throw new Refused(`characters must be an integer from 1 to ${TEXT.length}`);
  }
  return { userId, characters };
}

function checkFields(message, fields) {
  if (typeof message !== 'object' || message === null || Array.isArray(message)) {
    throw new Refused('a message must be a JSON object');
  }
  for (const [name, [holds, what]] of Object.entries(fields)) {
    if (!holds(message[name])) throw new Refused(`${name} must be ${what}`);
  }
}

function isKeys(value) {
  if (typeof value !== 'string' || value === '') return false;
  // `length` counts UTF-16 units; a character has one or two.
  return value.length <= MAX_KEYS || (value.length <= 2 * MAX_KEYS && [...value].length <= MAX_KEYS);
}
