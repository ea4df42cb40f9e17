import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { WebSocket } from 'ws'; // of Socket.IO
import { createApp } from '../src/app.js';

async function started(t) {
  const { server, stop } = createApp();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(stop);
  return server.address().port;
}

/**
 * Returns a client that is a member of the board b: `send` sends, `next` awaits the next message that is not a ping.
 */
async function member(t, port, userId) {
  const webSocket = new WebSocket(`ws://127.0.0.1:${port}/socket.io/?EIO=4&transport=websocket`);
  const received = [];
  let arrived = () => {};
  webSocket.onmessage = ({ data }) => {
    received.push(data);
    arrived();
  };
  const next = async () => {
    while (received.length === 0) {
      await new Promise((resolve) => {
        arrived = resolve;
      });
    }
    return received.shift();
  };
  t.after(() => webSocket.close());
  const opened = JSON.parse((await next()).slice(1));
  assert.deepEqual(
    { ...opened, sid: '' },
    {
      sid: '',
      upgrades: [],
      pingInterval: 25000,
      pingTimeout: 20000,
      maxPayload: 65536,
    },
  );
  webSocket.send('40');
  const { sid } = JSON.parse((await next()).slice(2));
  const join = (boardId) => webSocket.send(`427["join",${JSON.stringify({ type: 'join', boardId, userId })}]`);
  join('b');
  assert.equal(await next(), `437[{"type":"joined","boardId":"b","userId":"${userId}"}]`);
  return { send: (text) => webSocket.send(text), next, sid, join };
}

const draw = (boardId, note = 0) =>
  `42["draw",${JSON.stringify({ type: 'draw', boardId, userId: 'u', seq: 1, sentAt: 2, stroke: [[1, 2]], note })}]`;

test('a board whose name is the id of a client is not that client', { timeout: 10_000 }, async (t) => {
  const port = await started(t);
  const victim = await member(t, port, 'victim');
  const other = await member(t, port, 'other');
  other.join(victim.sid);
  await other.next();
  other.send(draw(victim.sid));
  assert.equal(await other.next(), draw(victim.sid));
  other.send(draw('b'));
  assert.equal(await victim.next(), draw('b'));
});

test('a draw that cannot be written again is refused, and nothing else happens', { timeout: 10_000 }, async (t) => {
  const port = await started(t);
  const client = await member(t, port, 'u');
  client.send(draw('b').replace('"note":0', `"note":${'['.repeat(30_000)}${']'.repeat(30_000)}`));
  assert.match(await client.next(), /^42\["error",\{"type":"error","reason":"a message is nested too deeply"\}\]$/);
  client.send(draw('b'));
  assert.equal(await client.next(), draw('b'));
});
