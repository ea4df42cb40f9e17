import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkIds, parsePosition, parseVersion, Refused } from '../src/position.js';

const GOOD = { lat: 52.5, lon: -13.4, seq: 7, sentAt: 1764000000000000 };

test('a position is told with its user and without other fields', () => {
  const told = JSON.parse(parsePosition('u-1', JSON.stringify({ ...GOOD, note: 'x', user: 'u-2' })));
  assert.deepEqual(told, { user: 'u-1', ...GOOD });
});

test('what is no position is refused', () => {
  const wrong = [
    { lat: 90.1 },
    { lat: '1' },
    { lon: -181 },
    { lon: null },
    { seq: -1 },
    { seq: 1.5 },
    { sentAt: 2 ** 53 },
  ];
  for (const text of ['', '{', '[]', 'null', '7', ...wrong.map((each) => JSON.stringify({ ...GOOD, ...each }))]) {
    assert.throws(() => parsePosition('u-1', text), Refused, text);
  }
});

test('ids and versions have one form', () => {
  checkIds('a', 'A-9_'.padEnd(64, 'x'));
  for (const id of ['', 'a.b', 'a b', 'é', 'x'.repeat(65)]) assert.throws(() => checkIds('a', id), Refused, id);
  assert.equal(parseVersion('17'), 17);
  assert.equal(parseVersion(undefined), undefined);
  for (const text of ['', '-1', '01', '1.5', '1e2', '9007199254740992'])
    assert.throws(() => parseVersion(text), Refused);
});
