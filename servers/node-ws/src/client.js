// One connection: turns its messages into joins, draws and leaves, and queues what is sent to it.

import { Sender, WebSocket } from 'ws';
import { BadMessage, parseMessage } from './message.js';

// A client that does not read is disconnected, because its queue would grow without bound.
const MAX_QUEUED_BYTES = 1024 * 1024;

const TEXT_OPCODE = 1;

export class Client {
  #webSocket;
  #socket;
  #boards;

  constructor(webSocket, socket, boards) {
    this.#webSocket = webSocket;
    this.#socket = socket;
    this.#boards = boards;
    webSocket.on('message', (data, isBinary) => this.#receive(data, isBinary));
    webSocket.on('close', () => boards.leaveAll(this));
    // ws has already closed the connection with the right code: 1009 for a message that is too large, and so on.
    webSocket.on('error', () => {});
  }

  /** Queues a frame made by `frameText`. The same frame may be given to any number of clients. */
  send(frame) {
    if (this.#webSocket.readyState !== WebSocket.OPEN) return;
    if (this.#socket.writableLength + frame.length > MAX_QUEUED_BYTES) {
      this.#webSocket.terminate();
    } else {
      this.#socket.write(frame);
    }
  }

  #receive(data, isBinary) {
    try {
      if (isBinary) throw new BadMessage('a message must be a text frame');
      this.#handle(parseMessage(data.toString()), data);
    } catch (error) {
      if (!(error instanceof BadMessage)) throw error;
      this.#reply({ type: 'error', reason: error.message });
    }
  }

  #handle({ type, boardId, userId }, data) {
    if (type === 'join') {
      this.#boards.join(boardId, this);
      this.#reply({ type: 'joined', boardId, userId });
    } else if (!this.#boards.has(boardId, this)) {
      throw new BadMessage(`${type}: this connection has not joined the board`);
    } else if (type === 'draw') {
      this.#boards.broadcast(boardId, frameText(data));
    } else {
      this.#boards.leave(boardId, this);
    }
  }

  #reply(message) {
    this.send(frameText(JSON.stringify(message)));
  }
}

// `webSocket.send` would frame a broadcast again for each member. A server's frames are unmasked, so one serves all
// members. It is a single buffer, so that each member costs one write.
function frameText(payload) {
  return Buffer.concat(Sender.frame(payload, { fin: true, opcode: TEXT_OPCODE }));
}
