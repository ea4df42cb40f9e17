// One connection: turns its messages into joins, draws and leaves, and queues what is sent to it.

import { WebSocket } from 'ws';
import { frameText } from './frame.js';
import { BadMessage, parseMessage } from './message.js';

// A client that does not read is disconnected, because its queue would grow without bound.
const MAX_QUEUED_BYTES = 1024 * 1024;

// While Redis is unavailable no join is answered, and one client must not pile them up.
const MAX_UNANSWERED_JOINS = 1000;

export class Client {
  #webSocket;
  #socket;
  #channels;
  #unansweredJoins = [];

  constructor(webSocket, socket, channels) {
    this.#webSocket = webSocket;
    this.#socket = socket;
    this.#channels = channels;
    webSocket.on('message', (data, isBinary) => this.#receive(data, isBinary));
    webSocket.on('close', () => channels.leaveAll(this));
    // ws has already closed the connection with the right code: 1009 for a message that is too large, and so on.
    webSocket.on('error', () => {});
  }

  /** Queues the result of `frameText`. The same bytes may be given to any number of clients. */
  send(frames) {
    if (this.#webSocket.readyState !== WebSocket.OPEN) return;
    if (this.#socket.writableLength + frames.length > MAX_QUEUED_BYTES) {
      this.#webSocket.terminate();
    } else {
      this.#socket.write(frames);
    }
  }

  /** Stops reading from the client. */
  pause() {
    this.#webSocket.pause();
  }

  resume() {
    this.#webSocket.resume();
  }

  /** Answers the joins of boards from which the client now receives everything. */
  answerJoins() {
    this.#answerJoins((boardId) => this.#channels.isSubscribed(boardId));
  }

  #receive(data, isBinary) {
    try {
      if (isBinary) throw new BadMessage('a message must be a text frame');
      const text = data.toString();
      this.#handle(parseMessage(text), text);
    } catch (error) {
      if (!(error instanceof BadMessage)) throw error;
      this.#reply({ type: 'error', reason: error.message });
    }
  }

  #handle({ type, boardId, userId }, text) {
    if (type === 'join') {
      if (this.#unansweredJoins.length === MAX_UNANSWERED_JOINS) throw new BadMessage('join: too many are unanswered');
      this.#channels.join(boardId, this);
      this.#unansweredJoins.push({ boardId, userId });
      this.answerJoins();
    } else if (!this.#channels.has(boardId, this)) {
      throw new BadMessage(`${type}: this connection has not joined the board`);
    } else if (type === 'draw') {
      this.#channels.publish(boardId, text, this);
    } else {
      this.#answerJoins((joinedId) => joinedId === boardId);
      this.#channels.leave(boardId, this);
    }
  }

  #answerJoins(isDue) {
    this.#unansweredJoins = this.#unansweredJoins.filter(({ boardId, userId }) => {
      if (!isDue(boardId)) return true;
      this.#reply({ type: 'joined', boardId, userId });
      return false;
    });
  }

  #reply(message) {
    this.send(frameText(JSON.stringify(message)));
  }
}
