import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { WebSocket } from 'ws';
import { createApp } from '../src/app.js';

// More than the kernel's socket buffers and the server's queue hold together.
const DRAWS = 300;
const PADDING = 'x'.repeat(60_000);

test('a client that stops reading is disconnected and delays nobody', { timeout: 30_000 }, async (t) => {
  const { server, stop } = createApp();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(stop);

  const sender = await join(server.address().port, 'sender');
  const slow = await join(server.address().port, 'slow');
  let received = 0;
  slow.on('message', () => received++);
  slow.pause();

  for (let seq = 0; seq < DRAWS; seq++) {
    const draw = { type: 'draw', boardId: 'b', userId: 'sender', seq, sentAt: 0, stroke: [[1, 2]], padding: PADDING };
    sender.send(JSON.stringify(draw));
    const [echo] = await once(sender, 'message');
    assert.equal(JSON.parse(echo).seq, seq);
  }

  slow.resume();
  await once(slow, 'close');
  assert.ok(received < DRAWS, `received ${received} of ${DRAWS}`);
});

async function join(port, userId) {
  const client = new WebSocket(`ws://127.0.0.1:${port}/ws`);
  await once(client, 'open');
  client.send(JSON.stringify({ type: 'join', boardId: 'b', userId }));
  await once(client, 'message');
  return client;
}
