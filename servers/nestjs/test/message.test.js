import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BadMessage, checkMessage } from '../dist/message.js';

const join = { type: 'join', boardId: 'b-17', userId: 'u-42' };
const draw = { ...join, type: 'draw', seq: 0, sentAt: 1764000000123456, stroke: [[1, 2.5]] };

const good = {
  'a join': join,
  'a draw': draw,
  'a leave': { ...join, type: 'leave' },
  'unknown fields': { ...draw, colour: 'red' },
  'a boardId of 64 characters outside the BMP': { ...join, boardId: '\u{1f600}'.repeat(64) },
};

const bad = {
  nothing: undefined,
  'no object': [join],
  'a null': null,
  'no type': { ...join, type: undefined },
  'an unknown type': { ...join, type: 'erase' },
  'an empty boardId': { ...join, boardId: '' },
  'a userId of 65 characters': { ...join, userId: 'u'.repeat(65) },
  'a userId that is a number': { ...join, userId: 42 },
  'a negative seq': { ...draw, seq: -1 },
  'a seq with a fraction': { ...draw, seq: 0.5 },
  'a seq that is a boolean': { ...draw, seq: true },
  'a sentAt that is a string': { ...draw, sentAt: '1' },
  'no stroke': { ...draw, stroke: undefined },
  'an empty stroke': { ...draw, stroke: [] },
  'a point of three numbers': { ...draw, stroke: [[1, 2, 3]] },
  'a point with a string': { ...draw, stroke: [[1, '2']] },
  'a coordinate beyond all numbers': { ...draw, stroke: [[1, Number.POSITIVE_INFINITY]] },
};

for (const [name, message] of Object.entries(good)) {
  test(`${name} is accepted`, () => assert.equal(checkMessage(message), message));
}

for (const [name, message] of Object.entries(bad)) {
  test(`${name} is refused`, () => assert.throws(() => checkMessage(message), BadMessage));
}
