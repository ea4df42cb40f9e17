// The messages of a client: parses one text frame and checks it. It does not depend on boards or connections.

const MAX_ID_CHARACTERS = 64;

/** Its message is the reason that is sent to the client. */
export class BadMessage extends Error {}

/** @throws {BadMessage} unless the text is a join, draw or leave. Fields beyond the known ones are allowed. */
export function parseMessage(text) {
  const message = parseJson(text);
  check(isObject(message), 'a message must be a JSON object');
  check(['join', 'draw', 'leave'].includes(message.type), 'type must be join, draw or leave');
  check(isId(message.boardId), `boardId must be a string of 1 to ${MAX_ID_CHARACTERS} characters`);
  check(isId(message.userId), `userId must be a string of 1 to ${MAX_ID_CHARACTERS} characters`);
  if (message.type === 'draw') {
    check(isCount(message.seq), 'seq must be an integer of at least 0');
    check(isCount(message.sentAt), 'sentAt must be an integer of at least 0');
    check(isStroke(message.stroke), 'stroke must be a non-empty array of [number, number]');
  }
  return message;
}

function parseJson(text) {
  try {
    return JSON.parse(text);
  } catch {
    throw new BadMessage('a message must be JSON');
  }
}

function check(holds, reason) {
  if (!holds) throw new BadMessage(reason);
}

function isObject(value) {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isId(value) {
  if (typeof value !== 'string' || value === '') return false;
  // `length` counts UTF-16 units; a character has one or two.
  return value.length <= MAX_ID_CHARACTERS || [...value].length <= MAX_ID_CHARACTERS;
}

function isCount(value) {
  return Number.isInteger(value) && value >= 0;
}

function isStroke(value) {
  return Array.isArray(value) && value.length > 0 && value.every(isPoint);
}

// JSON has no infinity, but 1e999 becomes one.
function isPoint(value) {
  return Array.isArray(value) && value.length === 2 && value.every(Number.isFinite);
}
