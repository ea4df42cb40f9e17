import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { test } from 'node:test';
import { guard } from '../src/guard.js';

const LIMIT = 1024 * 1024;

/** Returns a connection whose WebSocket has not written any of `bufferedAmount` bytes yet. */
function connectionWith(bufferedAmount) {
  const connection = new EventEmitter();
  connection.ended = false;
  const end = () => {
    connection.ended = true;
  };
  connection.transport = { socket: { bufferedAmount, terminate: end } };
  connection.close = end;
  guard(connection, connection.transport.socket);
  return connection;
}

const packetOf = (bytes) => ({ data: 'x'.repeat(bytes), options: {} });
const broadcastOf = (bytes) => ({
  data: '',
  options: { wsPreEncodedFrame: [Buffer.alloc(4), Buffer.alloc(bytes - 4)] },
});

for (const [name, make] of Object.entries({ packets: packetOf, broadcasts: broadcastOf })) {
  test(`a connection ends once more than 1 MiB of ${name} is queued`, () => {
    const connection = connectionWith(LIMIT / 2);
    connection.emit('packetCreate', make(LIMIT / 4));
    connection.emit('packetCreate', make(LIMIT / 4));
    assert.equal(connection.ended, false);
    connection.emit('packetCreate', make(5));
    assert.equal(connection.ended, true);
  });
}

test('what the WebSocket has taken is not counted twice', () => {
  const connection = connectionWith(0);
  for (let i = 0; i < 5; i++) {
    connection.emit('packetCreate', packetOf(LIMIT / 2));
    connection.emit('flush');
  }
  assert.equal(connection.ended, false);
});

test('a packet without data, and text, are taken, and binary ends the connection', () => {
  const connection = connectionWith(0);
  for (const data of [undefined, '', 'text']) connection.emit('packet', { type: 'message', data });
  assert.equal(connection.ended, false);
  connection.emit('packet', { type: 'message', data: Buffer.from('binary') });
  assert.equal(connection.ended, true);
});
