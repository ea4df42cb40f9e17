// The HTTP server with Socket.IO on it: answers /healthz, accepts connections on /socket.io/, and closes both.
// client.js handles the messages of clients.

import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { Server } from 'socket.io';
import { serve } from './client.js';
import { guard } from './guard.js';

const PATH = '/socket.io/';
const MAX_MESSAGE_BYTES = 64 * 1024;

// How long a client may take to answer a close frame. SIGTERM has to end the process within 5 s.
const CLOSE_TIMEOUT_MS = 3000;

const { version: socketIOVersion } = createRequire(import.meta.url)('socket.io/package.json');

const HEALTH = JSON.stringify({
  server: 'socketio',
  runtime: `Node.js ${process.versions.node}`,
  framework: `Socket.IO ${socketIOVersion}`,
});

export function createApp() {
  const server = createServer(respond);
  // Compression and the recovery of connections are off by default: https://socket.io/docs/v4/server-options/
  const io = new Server(server, {
    path: PATH,
    transports: ['websocket'],
    maxHttpBufferSize: MAX_MESSAGE_BYTES,
    serveClient: false,
    destroyUpgrade: false, // other paths are refused below
  });

  server.on('upgrade', (request, socket) => {
    if (request.url.startsWith(PATH)) return;
    socket.on('error', socket.destroy);
    socket.once('finish', socket.destroy);
    socket.end('HTTP/1.1 404 Not Found\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
  });
  io.engine.on('connection', guard);
  io.on('connection', (socket) => serve(socket, io));

  // The process ends by itself once every connection has. `io.close()` would close them without a code.
  function stop() {
    server.close();
    server.closeAllConnections();
    const webSockets = Object.values(io.engine.clients).map((connection) => connection.transport.socket);
    for (const webSocket of webSockets) webSocket.close(1001);
    setTimeout(() => {
      for (const webSocket of webSockets) webSocket.terminate();
    }, CLOSE_TIMEOUT_MS).unref();
  }

  return { server, stop };
}

function respond(request, response) {
  if (request.url.split('?', 1)[0] === '/healthz') {
    response.setHeader('Content-Type', 'application/json').end(HEALTH);
  } else {
    response.writeHead(404).end();
  }
}
