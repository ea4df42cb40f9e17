// One client: turns its events into joins, draws and leaves. A board is a room. The client itself is in it, too, so
// `io.to` also reaches the sender.

import { BadMessage, check } from './message.js';

/** @param socket of Socket.IO, in the namespace whose server is `io` */
export function serve(socket, io) {
  // The listener of `error` receives the errors of a middleware:
  // https://socket.io/docs/v4/server-socket-instance/#socketusefn
  socket.use(([event, ...args], next) => next(check(event, args)));
  socket.on('error', (error) => {
    if (error instanceof BadMessage) refuse(error.message);
  });

  socket.on('join', ({ boardId, userId }, acknowledge) => {
    socket.join(roomOf(boardId));
    acknowledge({ type: 'joined', boardId, userId });
  });
  socket.on('draw', (message) => {
    if (isMember(message)) broadcast(message);
  });
  socket.on('leave', (message) => {
    if (isMember(message)) socket.leave(roomOf(message.boardId));
  });

  function isMember({ type, boardId }) {
    const joined = socket.rooms.has(roomOf(boardId));
    if (!joined) refuse(`${type}: this connection has not joined the board`);
    return joined;
  }

  function broadcast(message) {
    try {
      io.to(roomOf(message.boardId)).emit('draw', message);
    } catch (error) {
      // JSON.parse accepts deeper nesting than JSON.stringify can write.
      if (!(error instanceof RangeError)) throw error;
      refuse('a message is nested too deeply');
    }
  }

  function refuse(reason) {
    socket.emit('error', { type: 'error', reason });
  }
}

// Every socket is in a room of its own id, which is not a board.
function roomOf(boardId) {
  return `board:${boardId}`;
}
