import assert from 'node:assert/strict';
import { test } from 'node:test';
import { respondingWith } from '../src/http.js';

const respond = respondingWith({
  health: () => ({ server: 's' }),
  metrics: () => ({ rooms: 1 }),
  match: ({ userId, characters }) => `${userId}-${characters}`,
});
const post = { method: 'POST', path: '/api/pvp/matchmake', contentType: 'application/json', body: '{"userId":"u"}' };

test('a request for matchmaking is answered with a room', () => {
  for (const contentType of ['application/json', 'Application/JSON ; charset=utf-8']) {
    const { status, headers, body } = respond({ ...post, contentType });
    assert.deepEqual([status, headers, body], [200, { 'Content-Type': 'application/json' }, '{"roomId":"u-150"}']);
  }
});

for (const [what, change, status] of [
  ['no JSON', { body: '{' }, 400],
  ['a body that is too large', { body: undefined }, 413],
  ['another type', { contentType: 'text/plain' }, 415],
  ['no type', { contentType: undefined }, 415],
  ['another method', { method: 'GET' }, 405],
  ['another path', { path: '/api/pvp/matchmake/' }, 404],
  ['an inherited name', { path: 'constructor' }, 404],
]) {
  test(`${what} is ${status} with JSON`, () => {
    const answer = respond({ ...post, ...change });
    assert.equal(answer.status, status);
    assert.equal(typeof JSON.parse(answer.body).error, 'string');
    assert.equal(answer.headers.Allow, status === 405 ? 'POST' : undefined);
  });
}

test('health and metrics are read', () => {
  assert.equal(respond({ method: 'GET', path: '/healthz' }).body, '{"server":"s"}');
  assert.equal(respond({ method: 'HEAD', path: '/metricz' }).status, 200);
  assert.equal(respond({ method: 'POST', path: '/metricz' }).headers.Allow, 'GET, HEAD');
});
