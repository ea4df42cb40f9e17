import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, test } from 'node:test';
import { createApp } from '../src/app.js';

const app = createApp();
let port;

before(async () => {
  port = await app.listen(0);
});
after(app.stop);

test('boards whose names differ in a lone surrogate are different boards', async () => {
  const high = await member('\ud83d');
  const low = await member('\ude00');
  const seen = [];
  high.addEventListener('message', ({ data }) => seen.push(JSON.parse(data).boardId));

  low.send(draw('\ude00'));
  await once(low, 'message');
  high.send(draw('\ud83d'));
  await once(high, 'message');
  assert.deepEqual(seen, ['\ud83d']);
});

test('a message of more than 64 KiB closes the connection with 1009', async () => {
  const client = await member('a board');
  client.send('x'.repeat(65_537));
  const [{ code }] = await once(client, 'close');
  assert.equal(code, 1009);
});

function draw(boardId) {
  return JSON.stringify({ type: 'draw', boardId, userId: 'u', seq: 0, sentAt: 0, stroke: [[1, 2]] });
}

async function member(boardId) {
  const client = new WebSocket(`ws://127.0.0.1:${port}/ws`);
  await once(client, 'open');
  client.send(JSON.stringify({ type: 'join', boardId, userId: 'u' }));
  await once(client, 'message');
  return client;
}
