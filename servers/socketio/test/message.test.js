import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BadMessage, check } from '../src/message.js';

const ids = { boardId: 'b-17', userId: 'u-42' };
const join = { type: 'join', ...ids };
const draw = { type: 'draw', ...ids, seq: 0, sentAt: 1764000000123456, stroke: [[1, 2.5]] };
const acknowledge = () => {};

const good = {
  'a join': ['join', join, acknowledge],
  'a draw': ['draw', draw],
  'a draw that asks for an acknowledgement': ['draw', draw, acknowledge],
  'a leave': ['leave', { type: 'leave', ...ids }],
  'unknown fields': ['draw', { ...draw, colour: 'red' }],
  'a boardId of 64 characters outside the BMP': ['join', { ...join, boardId: '\u{1f600}'.repeat(64) }, acknowledge],
};

const bad = {
  'no message': ['draw'],
  'no object': ['draw', [draw]],
  'a null': ['draw', null],
  'an unknown event': ['erase', { ...draw, type: 'erase' }],
  'an inherited event': ['constructor', { ...draw, type: 'constructor' }],
  'an event that is a number': [7, draw],
  'another type than the event': ['draw', { ...draw, type: 'join' }],
  'no type': ['draw', { ...draw, type: undefined }],
  'a join without acknowledgement': ['join', join],
  'two messages': ['draw', draw, draw],
  'two messages and an acknowledgement': ['join', join, join, acknowledge],
  'an empty boardId': ['join', { ...join, boardId: '' }, acknowledge],
  'a userId of 65 characters': ['join', { ...join, userId: 'u'.repeat(65) }, acknowledge],
  'a userId that is a number': ['join', { ...join, userId: 42 }, acknowledge],
  'a negative seq': ['draw', { ...draw, seq: -1 }],
  'a seq with a fraction': ['draw', { ...draw, seq: 0.5 }],
  'a seq that is a boolean': ['draw', { ...draw, seq: true }],
  'a sentAt that is a string': ['draw', { ...draw, sentAt: '1' }],
  'no stroke': ['draw', { ...draw, stroke: undefined }],
  'an empty stroke': ['draw', { ...draw, stroke: [] }],
  'a point of three numbers': ['draw', { ...draw, stroke: [[1, 2, 3]] }],
  'a point with a string': ['draw', { ...draw, stroke: [[1, '2']] }],
  'a coordinate beyond all numbers': ['draw', { ...draw, stroke: [[1, Number.POSITIVE_INFINITY]] }],
};

for (const [name, [event, ...args]] of Object.entries(good)) {
  test(`${name} is accepted`, () => assert.equal(check(event, args), undefined));
}

for (const [name, [event, ...args]] of Object.entries(bad)) {
  test(`${name} is refused`, () => assert.ok(check(event, args) instanceof BadMessage));
}
