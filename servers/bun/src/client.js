// One connection: turns its messages into joins, draws and leaves. A board is a topic of Bun's server, whose
// subscribers are its members.

import { BadMessage, parseMessage } from './message.js';

export class Client {
  #webSocket;
  #server;
  #topics = new Map(); // boardId -> topic, of the boards that were joined

  constructor(webSocket, server) {
    this.#webSocket = webSocket;
    this.#server = server;
  }

  receive(message) {
    try {
      if (typeof message !== 'string') throw new BadMessage('a message must be a text frame');
      this.#handle(parseMessage(message), message);
    } catch (error) {
      if (!(error instanceof BadMessage)) throw error;
      this.#reply({ type: 'error', reason: error.message });
    }
  }

  #handle({ type, boardId, userId }, text) {
    const topic = this.#topics.get(boardId);
    if (type === 'join') {
      if (!topic) this.#join(boardId);
      this.#reply({ type: 'joined', boardId, userId });
    } else if (!topic) {
      throw new BadMessage(`${type}: this connection has not joined the board`);
    } else if (type === 'draw') {
      this.#server.publish(topic, text);
    } else {
      this.#leave(boardId, topic);
    }
  }

  #join(boardId) {
    // Topics are UTF-8, in which all lone surrogates become the same character, so different boards would become one.
    // JSON escapes lone surrogates.
    const topic = JSON.stringify(boardId);
    this.#topics.set(boardId, topic);
    this.#webSocket.subscribe(topic);
  }

  #leave(boardId, topic) {
    this.#topics.delete(boardId);
    this.#webSocket.unsubscribe(topic);
  }

  // In order with everything that was published to its boards.
  #reply(message) {
    this.#webSocket.send(JSON.stringify(message));
  }
}
