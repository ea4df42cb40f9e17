// The messages of a client. They do not depend on boards or connections.

const MAX_ID_CHARACTERS = 64;

export const TYPES = ['join', 'draw', 'leave'] as const;

export type Message = { type: (typeof TYPES)[number]; boardId: string; userId: string };

/** Its message is the reason that is sent to the client. */
export class BadMessage extends Error {}

/** @throws {BadMessage} unless the value is a join, draw or leave. Fields beyond the known ones are allowed. */
export function checkMessage(value: unknown): Message {
  check(isObject(value), 'a message must be a JSON object');
  check(
    TYPES.some((type) => type === value.type),
    'type must be join, draw or leave',
  );
  check(isId(value.boardId), `boardId must be a string of 1 to ${MAX_ID_CHARACTERS} characters`);
  check(isId(value.userId), `userId must be a string of 1 to ${MAX_ID_CHARACTERS} characters`);
  if (value.type === 'draw') {
    check(isCount(value.seq), 'seq must be an integer of at least 0');
    check(isCount(value.sentAt), 'sentAt must be an integer of at least 0');
    check(isStroke(value.stroke), 'stroke must be a non-empty array of [number, number]');
  }
  return value as Message;
}

function check(holds: boolean, reason: string): asserts holds {
  if (!holds) throw new BadMessage(reason);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isId(value: unknown): boolean {
  if (typeof value !== 'string' || value === '') return false;
  // `length` counts UTF-16 units; a character has one or two.
  return value.length <= MAX_ID_CHARACTERS || [...value].length <= MAX_ID_CHARACTERS;
}

function isCount(value: unknown): boolean {
  return Number.isInteger(value) && (value as number) >= 0;
}

function isStroke(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0 && value.every(isPoint);
}

// JSON has no infinity, but 1e999 becomes one.
function isPoint(value: unknown): boolean {
  return Array.isArray(value) && value.length === 2 && value.every(Number.isFinite);
}
