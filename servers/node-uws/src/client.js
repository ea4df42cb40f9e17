// One connection: turns its messages into joins, draws and leaves. A board is a topic of uWebSockets.js, and its
// members are the subscribers.

import { BadMessage, parseMessage } from './message.js';

export class Client {
  #webSocket;
  #app;
  #joined = new Set(); // of boardIds

  constructor(webSocket, app) {
    this.#webSocket = webSocket;
    this.#app = app;
  }

  /** Handles a message. Its bytes, an ArrayBuffer, are only valid during the call. */
  receive(data, isBinary) {
    try {
      if (isBinary) throw new BadMessage('a message must be a text frame');
      this.#handle(parseMessage(Buffer.from(data).toString()), data);
    } catch (error) {
      if (!(error instanceof BadMessage)) throw error;
      this.#reply({ type: 'error', reason: error.message });
    }
  }

  close(code) {
    this.#webSocket.end(code);
  }

  #handle({ type, boardId, userId }, data) {
    if (type === 'join') {
      this.#joined.add(boardId);
      this.#webSocket.subscribe(boardId);
      this.#reply({ type: 'joined', boardId, userId });
    } else if (!this.#joined.has(boardId)) {
      throw new BadMessage(`${type}: this connection has not joined the board`);
    } else if (type === 'draw') {
      this.#app.publish(boardId, data);
    } else {
      this.#joined.delete(boardId);
      this.#webSocket.unsubscribe(boardId);
    }
  }

  #reply(message) {
    this.#webSocket.send(JSON.stringify(message));
  }
}
