// A connection to Redis that only publishes and subscribes. After a loss it reconnects as soon as it can.
//
// It is not a client library, which saves a quarter of the cost of a delivery here. A library waits for a reply to each
// command, while a PUBLISH needs none here. A library also decodes everything that Redis may send, one promise, queue
// entry and event at a time, while this connection receives only pushes. CLIENT REPLY OFF turns off replies but not
// pushes, which RESP3 (Redis 6) separates from replies, so publishing and subscribing share one connection.

import { EventEmitter } from 'node:events';
import { connect } from 'node:net';
import { PushReader } from './push-reader.js';

const RECONNECT_MS = 100;
const READY_TIMEOUT_MS = 1000;

// A Redis that vanished silently is noticed by probes of the kernel, within 10 s.
const KEEP_ALIVE_MS = 1000;

const READ_BYTES = 64 * 1024;

// How much may be in flight to Redis before it counts as behind.
const MAX_QUEUED_BYTES = 1024 * 1024;

// Subscribed to last after connecting: its confirmation means that all others are confirmed, too.
const READY_CHANNEL = 'ready';

/**
 * Events: `connect`, after which channels must be subscribed to (again); `ready` once that is confirmed; `lost` when
 * `isReady` ends; `pushes` with an array of the results of `PushReader`; `drain` when Redis is no longer behind.
 */
export class RedisLink extends EventEmitter {
  isReady = false;
  #address;
  #socket;
  #isOpen = false;
  #isCorked = false;
  #isClosed = false;
  #reconnecting;

  constructor(url) {
    super();
    const { hostname, port } = new URL(url);
    this.#address = { host: hostname, port: Number(port || 6379) };
    this.#connect();
  }

  get isBehind() {
    return this.#isOpen && this.#socket.writableLength > MAX_QUEUED_BYTES;
  }

  // Without a connection these have no effect: nothing is kept for the next one.

  subscribe(channels) {
    this.#write(command('SUBSCRIBE', channels));
  }

  unsubscribe(channels) {
    this.#write(command('UNSUBSCRIBE', channels));
  }

  publish(channel, payload) {
    this.#write(command('PUBLISH', [channel, payload]));
  }

  close() {
    this.#isClosed = true;
    clearTimeout(this.#reconnecting);
    this.#socket.destroy();
  }

  #connect() {
    const pushes = new PushReader();
    const buffer = Buffer.allocUnsafe(READ_BYTES);
    const callback = (length) => this.#receive(pushes, buffer.subarray(0, length));
    const socket = connect({
      ...this.#address,
      noDelay: true,
      keepAlive: true,
      keepAliveInitialDelay: KEEP_ALIVE_MS,
      onread: { buffer, callback }, // reads without a new buffer and a stream's bookkeeping each time
    });
    socket.setTimeout(READY_TIMEOUT_MS, () => socket.destroy());
    socket.once('connect', () => {
      this.#isOpen = true;
      this.#write(command('CLIENT', ['REPLY', 'OFF']));
      this.#write(command('HELLO', ['3']));
      this.emit('connect');
      this.subscribe([READY_CHANNEL]);
    });
    socket.on('drain', () => this.emit('drain'));
    socket.on('error', () => {}); // `close` follows
    socket.once('close', () => {
      this.#isOpen = false;
      this.isReady = false;
      this.emit('lost');
      if (!this.#isClosed) this.#reconnecting = setTimeout(() => this.#connect(), RECONNECT_MS);
    });
    this.#socket = socket;
  }

  #receive(reader, chunk) {
    let pushes;
    try {
      pushes = reader.read(chunk);
    } catch (error) {
      this.#socket.destroy(error);
      return;
    }
    this.emit('pushes', pushes);
    if (!this.isReady && pushes.some(({ channel }) => channel === READY_CHANNEL)) {
      this.#socket.setTimeout(0);
      this.isReady = true;
      this.emit('ready');
    }
  }

  // Everything written in one turn of the event loop is sent in one system call.
  #write(bytes) {
    if (!this.#isOpen) return;
    const socket = this.#socket;
    if (!this.#isCorked) {
      this.#isCorked = true;
      socket.cork();
      setImmediate(() => {
        this.#isCorked = false;
        socket.uncork();
      });
    }
    socket.write(bytes);
  }
}

function command(name, words) {
  const parts = [];
  let text = `*${1 + words.length}\r\n$${name.length}\r\n${name}\r\n`;
  for (const word of words) {
    text += `$${Buffer.byteLength(word)}\r\n`;
    if (typeof word === 'string') {
      text += `${word}\r\n`;
    } else {
      parts.push(Buffer.from(text), word);
      text = '\r\n';
    }
  }
  return Buffer.concat([...parts, Buffer.from(text)]);
}
