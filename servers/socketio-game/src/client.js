// One client: turns its events into joins, keystrokes and answers to pings.

import { checkEvent, Refused } from './message.js';

/** @param socket of Socket.IO, in the namespace `/` */
export function serve(socket, lobby) {
  let room; // the room in which the client plays, or played last
  let user;

  // The listener of `error` receives the errors of a middleware:
  // https://socket.io/docs/v4/server-socket-instance/#socketusefn
  socket.use(([event, ...args], next) => next(refusalOf(() => checkEvent(event, args))));
  socket.on('error', refuse);

  socket.on('pvp:join', ({ roomId, userId }, acknowledge) => {
    const refusal = refusalOf(() => {
      if (isPlaying()) throw new Refused('the client is in a room');
      const found = lobby.find(roomId);
      const text = found.join(userId);
      room = found;
      user = userId;
      socket.join(channelOf(roomId));
      acknowledge({ roomId, userId, text });
      room.startIfFull();
    });
    if (refusal) acknowledge({ error: refusal.message });
  });
  socket.on('pvp:keystrokes', (message) => {
    const refusal = refusalOf(() => {
      if (!isPlaying()) throw new Refused('the client is in no room');
      if (message.roomId !== room.id || message.userId !== user) throw new Refused('the client is another player');
      room.type(user, message);
    });
    if (refusal) refuse(refusal);
  });
  socket.on('ping', ({ sentAt }, acknowledge) => acknowledge({ sentAt }));
  socket.on('disconnect', () => {
    if (isPlaying()) room.leave(user);
  });

  function isPlaying() {
    return room !== undefined && room.phase !== 'over';
  }

  function refuse(error) {
    if (error instanceof Refused) socket.emit('pvp:error', { reason: error.message });
  }
}

/** Returns the name of a room for Socket.IO, where every client is also in a room of its own id. */
export function channelOf(roomId) {
  return `room:${roomId}`;
}

function refusalOf(attempt) {
  try {
    attempt();
  } catch (error) {
    if (error instanceof Refused) return error;
    throw error;
  }
}
