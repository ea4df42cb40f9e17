// The game on one engine: Socket.IO, matchmaking, /healthz and /metricz. The modules in `engines` handle what is
// special about each engine.

import { createRequire } from 'node:module';
import { Server } from 'socket.io';
import { channelOf, serve } from './client.js';
import { EventLoopDelay } from './delay.js';
import { respondingWith } from './http.js';
import { Lobby } from './lobby.js';

const { version: socketIOVersion } = createRequire(import.meta.url)('socket.io/package.json');

const RUNTIME = process.versions.bun ? `Bun ${process.versions.bun}` : `Node.js ${process.versions.node}`;

/** Compression and the recovery of connections are off by default: https://socket.io/docs/v4/server-options/ */
const OPTIONS = {
  path: '/socket.io/',
  transports: ['websocket'],
  maxHttpBufferSize: 64 * 1024,
  pingInterval: 25_000,
  pingTimeout: 20_000,
  serveClient: false,
};

/** @param engine a module of `engines`, under the name of the variant */
export function createApp(name, { createEngine }) {
  const io = new Server(OPTIONS);
  const lobby = new Lobby(
    (roomId) => (event, message) => io.to(channelOf(roomId)).emit(event, message),
    (roomId) => io.in(channelOf(roomId)).socketsLeave(channelOf(roomId)),
  );
  const delay = new EventLoopDelay().start();
  const respond = respondingWith({
    health: () => ({ server: `socketio-game/${name}`, runtime: RUNTIME, framework }),
    metrics: () => ({ ...lobby.count(), event_loop_delay: delay.last }),
    match: (request) => lobby.match(request),
  });
  io.on('connection', (socket) => serve(socket, lobby));
  const engine = createEngine(io, OPTIONS, respond);
  const framework = `Socket.IO ${socketIOVersion}, ${engine.version}`;
  return engine;
}
