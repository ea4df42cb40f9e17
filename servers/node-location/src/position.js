// The positions that clients put: parses a position and checks it. It does not depend on groups or connections.

const MAX_INTEGER = Number.MAX_SAFE_INTEGER;

/** Its message is the reason that is sent to the client, with this status if the transport has one. */
export class Refused extends Error {
  constructor(reason, status = 400) {
    super(reason);
    this.status = status;
  }
}

/**
 * Returns the JSON of the position that others receive. Unknown fields are left out.
 *
 * @throws {Refused} unless the text is a position
 */
export function parsePosition(user, text) {
  const { lat, lon, seq, sentAt } = parseObject(text);
  check(isWithin(lat, 90), 'lat must be a number from -90 to 90');
  check(isWithin(lon, 180), 'lon must be a number from -180 to 180');
  check(isCount(seq), 'seq must be an integer from 0 to 2^53 - 1');
  check(isCount(sentAt), 'sentAt must be an integer from 0 to 2^53 - 1');
  return JSON.stringify({ user, lat, lon, seq, sentAt });
}

/** Returns the version after which a client wants news, which is undefined where the text is. */
export function parseVersion(text) {
  return text === undefined ? undefined : parseInteger('since', text, 0, MAX_INTEGER);
}

/** Accepts decimal digits without a sign or a leading zero. */
export function parseInteger(name, text, least, most) {
  const number = Number(text);
  check(
    Number.isSafeInteger(number) && String(number) === text && number >= least && number <= most,
    `${name} must be an integer from ${least} to ${most}`,
  );
  return number;
}

export function checkIds(...ids) {
  check(
    ids.every((id) => /^[A-Za-z0-9_-]{1,64}$/.test(id)),
    'group and user must have 1 to 64 characters of A-Z a-z 0-9 - _',
  );
}

function parseObject(text) {
  let value;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Refused('a position must be JSON');
  }
  check(typeof value === 'object' && value !== null && !Array.isArray(value), 'a position must be a JSON object');
  return value;
}

function check(holds, reason) {
  if (!holds) throw new Refused(reason);
}

function isWithin(value, most) {
  return typeof value === 'number' && Math.abs(value) <= most;
}

function isCount(value) {
  return Number.isSafeInteger(value) && value >= 0;
}
