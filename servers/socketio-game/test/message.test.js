import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkEvent, parseMatchmaking, Refused } from '../src/message.js';
import { TEXT } from '../src/text.js';

const acknowledge = () => {};
const ids = { roomId: 'r-1', userId: 'u_1' };
const keystrokes = { ...ids, seq: 0, sentAt: 2 ** 53 - 1, keys: 'x'.repeat(16) };

test('joins, keystrokes and pings are accepted, also with other fields', () => {
  checkEvent('pvp:join', [{ ...ids, note: [1] }, acknowledge]);
  checkEvent('pvp:keystrokes', [keystrokes]);
  checkEvent('pvp:keystrokes', [{ ...keystrokes, keys: '🚀'.repeat(16) }, acknowledge]);
  checkEvent('ping', [{ sentAt: 0 }, acknowledge]);
});

const bad = {
  'an unknown event': ['pvp:leave', ids],
  'an inherited name': ['constructor', ids],
  'a number': [7, ids],
  'no message': ['pvp:keystrokes'],
  'two messages': ['pvp:keystrokes', keystrokes, keystrokes],
  'two messages and an acknowledgement': ['pvp:join', ids, ids, acknowledge],
  'a join without an acknowledgement': ['pvp:join', ids],
  'a ping without an acknowledgement': ['ping', { sentAt: 0 }],
  'an array': ['pvp:keystrokes', [keystrokes]],
  null: ['pvp:keystrokes', null],
};
for (const [field, values] of Object.entries({
  roomId: [undefined, null, 7, '', 'a b', 'é', 'a\n', 'x'.repeat(65), ['a']],
  seq: [undefined, '7', -1, 1.5, 2 ** 53, Number.POSITIVE_INFINITY, true],
  sentAt: [undefined, 'now', -1],
  keys: [undefined, '', 7, ['a'], 'x'.repeat(17), '🚀'.repeat(17), 'x'.repeat(60_000)],
})) {
  for (const value of values)
    bad[`${field} ${String(value).slice(0, 20)}`] = ['pvp:keystrokes', { ...keystrokes, [field]: value }];
}
for (const [name, [event, ...args]] of Object.entries(bad)) {
  test(`${name} is refused`, () => assert.throws(() => checkEvent(event, args), Refused));
}

test('matchmaking has 150 characters unless another number is said', () => {
  assert.deepEqual(parseMatchmaking('{"userId":"u"}'), { userId: 'u', characters: 150 });
  for (const characters of [1, TEXT.length]) {
    assert.equal(parseMatchmaking(JSON.stringify({ userId: 'u', characters })).characters, characters);
  }
});

for (const text of ['', '{', 'null', '[]', '7', '{}', '{"userId":7}', '{"userId":""}']) {
  test(`matchmaking of ${text} is refused`, () => assert.throws(() => parseMatchmaking(text), Refused));
}
for (const characters of [0, -1, 1.5, '20', null, true, TEXT.length + 1]) {
  test(`matchmaking for ${characters} characters is refused`, () => {
    assert.throws(() => parseMatchmaking(JSON.stringify({ userId: 'u', characters })), Refused);
  });
}

test('the text is ASCII, without a line break', () => assert.match(TEXT, /^[ -~]{150,}$/));
