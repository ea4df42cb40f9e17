// One Redis channel for all boards: every worker gets every draw, and parses it to find its board.

import { createRequire } from 'node:module';
import { createClient } from '@redis/client';
import { Boards } from './boards.js';
import { frameText } from './frame.js';
import { HeldBack } from './held-back.js';

const CHANNEL = 'whiteboard';

const RECONNECT_MS = 100;
const CONNECT_TIMEOUT_MS = 1000;

// A Redis that vanished silently is noticed by its silence; a subscriber alone would wait for it forever.
const PING_MS = 1000;
const SILENCE_MS = 5000;

// How much may be in flight to Redis before clients that draw have to wait.
const MAX_UNACKNOWLEDGED_CHARACTERS = 1024 * 1024;

const { version } = createRequire(import.meta.url)('@redis/client/package.json');

export class OneChannel {
  static server = 'node-cluster-redis';
  static libraries = [`@redis/client ${version}`];

  #boards = new Boards();
  #heldBack = new HeldBack();
  #publisher;
  #subscriber;
  #hasSubscribed = false;
  #unacknowledged = 0;
  #onReadiness;

  /** `onReadiness` is called with `isReady` whenever it may have changed. */
  constructor(redisUrl, onReadiness) {
    this.#onReadiness = onReadiness;
    this.#publisher = connect(redisUrl);
    this.#subscriber = connect(redisUrl);
    this.#subscriber.on('ready', () => this.#subscribe());
    for (const redis of [this.#publisher, this.#subscriber]) {
      redis.on('ready', () => this.#changed());
      redis.on('error', () => this.#changed());
    }
  }

  /** Whether draws reach Redis and return. */
  get isReady() {
    return this.#publisher.isReady && this.#subscriber.isReady && this.#hasSubscribed;
  }

  /** Whether a draw that anyone sends from now on reaches the members that a board has here. */
  isSubscribed() {
    return this.isReady;
  }

  has(boardId, client) {
    return this.#boards.has(boardId, client);
  }

  join(boardId, client) {
    this.#boards.join(boardId, client);
  }

  leave(boardId, client) {
    this.#boards.leave(boardId, client);
  }

  leaveAll(client) {
    for (const boardId of this.#boards.joinedBy(client)) this.leave(boardId, client);
  }

  /** Sends a draw through Redis to all members of a board, including those of this worker. */
  publish(_boardId, text, sender) {
    if (!this.isReady) return; // draws are lost, not kept, while Redis is unavailable

    this.#unacknowledged += text.length;
    if (this.#unacknowledged > MAX_UNACKNOWLEDGED_CHARACTERS) this.#heldBack.add(sender);
    const acknowledged = () => {
      this.#unacknowledged -= text.length;
      if (this.#unacknowledged <= MAX_UNACKNOWLEDGED_CHARACTERS / 2) this.#heldBack.release();
    };
    this.#publisher.publish(CHANNEL, text).then(acknowledged, acknowledged);
  }

  close() {
    this.#publisher.destroy();
    this.#subscriber.destroy();
  }

  // After a lost connection the client library has already subscribed again, and this has no effect.
  async #subscribe() {
    try {
      await this.#subscriber.subscribe(CHANNEL, this.#deliver, true);
      this.#hasSubscribed = true;
      this.#changed();
    } catch {
      // It was lost again.
    }
  }

  #deliver = (payload) => {
    const { boardId } = JSON.parse(payload.toString());
    if (!this.#boards.isEmpty(boardId)) this.#boards.broadcast(boardId, frameText(payload));
  };

  #changed() {
    this.#onReadiness(this.isReady);
    if (this.isReady) for (const client of this.#boards.clients()) client.answerJoins();
  }
}

function connect(url) {
  const redis = createClient({
    url,
    disableOfflineQueue: true,
    // The default is a timer for each command, to give up commands that wait to be written. None waits here.
    commandOptions: { timeout: undefined },
    pingInterval: PING_MS,
    socket: { connectTimeout: CONNECT_TIMEOUT_MS, socketTimeout: SILENCE_MS, reconnectStrategy: RECONNECT_MS },
  });
  redis.on('error', () => {}); // it reconnects by itself, and /healthz shows it
  redis.connect().catch(() => {}); // fails only if it is closed before
  return redis;
}
