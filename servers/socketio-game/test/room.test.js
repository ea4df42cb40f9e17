import assert from 'node:assert/strict';
import { beforeEach, mock, test } from 'node:test';
import { Lobby } from '../src/lobby.js';
import { Refused } from '../src/message.js';
import { TEXT } from '../src/text.js';

const SIX = ['a', 'b', 'c', 'd', 'e', 'f'];

let now;
let told; // [roomId, event, message]
let emptied; // roomIds
let lobby;

beforeEach(() => {
  mock.reset();
  now = 0;
  mock.method(performance, 'now', () => now);
  mock.timers.enable({ apis: ['setTimeout'] });
  told = [];
  emptied = [];
  lobby = new Lobby(
    (roomId) => (event, message) => told.push([roomId, event, message]),
    (roomId) => emptied.push(roomId),
  );
});

function pass(milliseconds) {
  now += milliseconds;
  mock.timers.tick(milliseconds);
}

function match(userId, characters = 4) {
  return lobby.match({ userId, characters });
}

function joined(users, characters = 4) {
  const ids = users.map((userId) => match(userId, characters));
  assert.equal(new Set(ids).size, 1);
  const room = lobby.find(ids[0]);
  for (const userId of users) room.join(userId);
  room.startIfFull();
  return room;
}

function begun(users, characters = 4) {
  const room = joined(users, characters);
  pass(users.length === 6 ? 1000 : 2000);
  if (users.length < 6) pass(1000);
  assert.equal(room.phase, 'playing');
  told.length = 0;
  return room;
}

const keys = (text, seq) => ({ seq, sentAt: 7, keys: text });

test('a room has six seats, and a user keeps the same one', () => {
  const first = match('a');
  for (const userId of SIX) assert.equal(match(userId), first);
  assert.notEqual(match('g'), first);
  assert.notEqual(match('a', 5), first);
});

test('a seat is free again after 10 s, and a room that nobody is in is forgotten', () => {
  const room = lobby.find(match('a'));
  pass(9000);
  for (const userId of SIX.slice(1)) room.join(match(userId) && userId);
  assert.throws(() => room.join('g'), Refused);
  pass(999);
  assert.notEqual(match('g'), room.id);
  pass(1);
  assert.equal(match('h'), room.id);
  const { rooms } = lobby.count();
  pass(10_000); // the room of g
  assert.equal(lobby.count().rooms, rooms - 1);
});

test('a seat that is given anew keeps an empty room for 10 s more', () => {
  const id = match('a');
  pass(9000);
  assert.equal(match('b'), id);
  pass(9000);
  assert.equal(match('c'), id);
  pass(10_000);
  assert.throws(() => lobby.find(id), Refused);
  assert.deepEqual(emptied, [id]);
});

test('a room counts down when it is full, or 2 s after the first join, and starts 1 s later', () => {
  const full = joined(SIX);
  assert.deepEqual(told, [[full.id, 'pvp:countdown', { roomId: full.id, milliseconds: 1000, players: SIX }]]);
  const small = joined(['x']);
  pass(999);
  assert.equal(told.length, 1);
  pass(1);
  assert.deepEqual(told[1], [full.id, 'pvp:start', { roomId: full.id }]);
  assert.notEqual(match('y'), full.id);
  pass(1000);
  assert.deepEqual(told[2][2], { roomId: small.id, milliseconds: 1000, players: ['x'] });
  assert.notEqual(match('z'), small.id);
  assert.throws(() => small.join('z'), Refused);
});

test('right keys move on, wrong ones are mistakes, and the end of the text is the end', () => {
  const room = begun(['a', 'b']);
  const states = ['#', TEXT[0], `${TEXT[1]}#${TEXT[2]}`, `${TEXT[3]}##`];
  for (const [seq, text] of states.entries()) room.type('a', keys(text, seq));
  assert.deepEqual(
    told.map(([, event, { seq, sentAt, typed, mistakes }]) => [event, seq, sentAt, typed, mistakes]),
    [
      ['pvp:state', 0, 7, 0, 1],
      ['pvp:state', 1, 7, 1, 1],
      ['pvp:state', 2, 7, 3, 2],
      ['pvp:state', 3, 7, 4, 2],
    ],
  );
  assert.throws(() => room.type('a', keys(TEXT[3], 4)), Refused);
});

test('a seq that does not increase types nothing', () => {
  const room = begun(['a']);
  room.type('a', keys('#', 5));
  for (const seq of [5, 4]) assert.throws(() => room.type('a', keys(TEXT[0], seq)), Refused);
  assert.equal(room.players.get('a').typed, 0);
});

test('nothing is typed before the start', () => {
  const room = joined(SIX);
  assert.throws(() => room.type('a', keys(TEXT[0], 0)), Refused);
});

test('a game ends when all who are there have finished, after their states', () => {
  const room = begun(['a', 'b', 'c']);
  room.type('b', keys(TEXT.slice(0, 4), 0));
  room.type('a', keys(TEXT.slice(0, 4), 0));
  assert.equal(room.phase, 'playing');
  room.leave('c');
  assert.deepEqual(told.at(-1), [room.id, 'pvp:over', { roomId: room.id, places: ['b', 'a'] }]);
  assert.deepEqual(emptied, [room.id]);
  assert.deepEqual(lobby.count(), { rooms: 0, players: 0 });
});

test('a game ends 300 s after its start, with the places of those who have finished', () => {
  const room = begun(['a', 'b']);
  room.type('b', keys(TEXT.slice(0, 4), 0));
  pass(299_999);
  assert.equal(room.phase, 'playing');
  pass(1);
  assert.deepEqual(told.at(-1), [room.id, 'pvp:over', { roomId: room.id, places: ['b'] }]);
});

test('a room whose players have all left waits again, or is forgotten once it has begun', () => {
  const waiting = joined(['a']);
  waiting.leave('a');
  pass(2000);
  assert.deepEqual(told, []);
  assert.equal(match('b'), waiting.id);
  const counting = joined(SIX, 5);
  for (const userId of SIX) counting.leave(userId);
  assert.deepEqual(emptied, [counting.id]);
  pass(1000);
  assert.equal(told.length, 1); // the countdown, and no start
});

test('a user is in a room once, and another client of the same user gets another room', () => {
  const room = joined(['a']);
  assert.throws(() => room.join('a'), Refused);
  assert.notEqual(match('a'), room.id);
});
