// A Redis channel for each board: a worker receives only messages for its clients, and forwards them without parsing.

import { Boards } from './boards.js';
import { frameText } from './frame.js';
import { HeldBack } from './held-back.js';
import { RedisLink } from './redis-link.js';
import { Subscriptions } from './subscriptions.js';

// Frames are joined up to this size: a client that has read everything so far must never reach its limit at once.
const MAX_TOGETHER_BYTES = 64 * 1024;

export class ChannelPerBoard {
  static server = 'node-cluster-redis/channel-per-board';
  static libraries = [];

  #boards = new Boards(); // by the names of their channels
  #heldBack = new HeldBack();
  #link;
  #subscriptions;

  /** `onReadiness` is called with `isReady` whenever it has changed. */
  constructor(redisUrl, onReadiness) {
    this.#link = new RedisLink(redisUrl);
    this.#subscriptions = new Subscriptions(this.#link);
    this.#link.on('connect', () => this.#subscriptions.restore());
    this.#link.on('pushes', (pushes) => this.#receive(pushes));
    this.#link.on('ready', () => onReadiness(true));
    this.#link.on('drain', () => this.#heldBack.release());
    this.#link.on('lost', () => {
      this.#subscriptions.lose();
      this.#heldBack.release();
      onReadiness(false);
    });
  }

  /** Whether draws reach Redis and return. */
  get isReady() {
    return this.#link.isReady;
  }

  /** Whether a draw that anyone sends from now on reaches the members that a board has here. */
  isSubscribed(boardId) {
    return this.#subscriptions.isConfirmed(channelOf(boardId));
  }

  has(boardId, client) {
    return this.#boards.has(channelOf(boardId), client);
  }

  join(boardId, client) {
    const channel = channelOf(boardId);
    if (this.#boards.join(channel, client)) this.#subscriptions.want(channel);
  }

  leave(boardId, client) {
    this.#leave(channelOf(boardId), client);
  }

  leaveAll(client) {
    for (const channel of this.#boards.joinedBy(client)) this.#leave(channel, client);
  }

  /**
   * Sends a draw through Redis to all members of a board, including those of this worker. So all of them get the same
   * draws in the same order, each once. The frame itself is published, so that no worker has to make it again.
   */
  publish(boardId, text, sender) {
    this.#link.publish(channelOf(boardId), frameText(text));
    if (this.#link.isBehind) this.#heldBack.add(sender);
  }

  close() {
    this.#link.close();
  }

  #leave(channel, client) {
    if (this.#boards.leave(channel, client)) this.#subscriptions.unwant(channel);
  }

  #receive(pushes) {
    const frames = new Map(); // channel -> frames
    for (const { kind, channel, payload } of pushes) {
      if (kind === 'message') {
        const others = frames.get(channel);
        if (others) others.push(payload);
        else frames.set(channel, [payload]);
      } else if (kind === 'subscribe') {
        this.#subscriptions.confirm(channel);
        for (const client of this.#boards.members(channel)) client.answerJoins();
      }
    }
    // Draws that arrive together are sent together: one system call for each member, not for each draw and member.
    for (const [channel, payloads] of frames) {
      for (const together of putTogether(payloads)) this.#boards.broadcast(channel, together);
    }
  }
}

function* putTogether(frames) {
  let some = [];
  let bytes = 0;
  for (const frame of frames) {
    if (some.length > 0 && bytes + frame.length > MAX_TOGETHER_BYTES) {
      yield Buffer.concat(some);
      some = [];
      bytes = 0;
    }
    some.push(frame);
    bytes += frame.length;
  }
  yield Buffer.concat(some);
}

// Quoted, because a boardId may contain a lone surrogate, which has no UTF-8 of its own.
function channelOf(boardId) {
  return `board:${JSON.stringify(boardId)}`;
}
