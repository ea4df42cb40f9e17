// The messages of a client: checks the arguments of one event. It does not depend on boards or connections.

const MAX_ID_CHARACTERS = 64;

/** Its message is the reason that is sent to the client. */
export class BadMessage extends Error {}

/**
 * Returns what is wrong with an event; nothing if it is a join, draw or leave. Unknown fields are allowed.
 *
 * @returns {BadMessage | undefined}
 */
export function check(event, [message, ...rest]) {
  const reason = wrongMessage(event, message) ?? wrongRest(event, rest);
  return reason && new BadMessage(reason);
}

function wrongMessage(event, message) {
  if (!['join', 'draw', 'leave'].includes(event)) return 'the event must be join, draw or leave';
  if (!isObject(message)) return 'a message must be a JSON object';
  if (message.type !== event) return 'type must be the name of the event';
  if (!isId(message.boardId)) return `boardId must be a string of 1 to ${MAX_ID_CHARACTERS} characters`;
  if (!isId(message.userId)) return `userId must be a string of 1 to ${MAX_ID_CHARACTERS} characters`;
  if (event !== 'draw') return undefined;
  if (!isCount(message.seq)) return 'seq must be an integer of at least 0';
  if (!isCount(message.sentAt)) return 'sentAt must be an integer of at least 0';
  if (!isStroke(message.stroke)) return 'stroke must be a non-empty array of [number, number]';
  return undefined;
}

// Socket.IO adds a function after the arguments if the client waits for an acknowledgement.
function wrongRest(event, rest) {
  const acknowledged = typeof rest[0] === 'function';
  if (rest.length > (acknowledged ? 1 : 0)) return 'an event must have one message';
  if (event === 'join' && !acknowledged) return 'a join must ask for an acknowledgement';
  return undefined;
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
