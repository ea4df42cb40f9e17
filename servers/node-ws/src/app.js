// The HTTP server: answers /healthz, upgrades /ws, and closes both. client.js handles the messages of clients.

import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { WebSocketServer } from 'ws';
import { Boards } from './boards.js';
import { Client } from './client.js';

const MAX_MESSAGE_BYTES = 64 * 1024;

// How long a client may take to answer a close frame. SIGTERM has to end the process within 5 s.
const CLOSE_TIMEOUT_MS = 3000;

const { version: wsVersion } = createRequire(import.meta.url)('ws/package.json');

const HEALTH = JSON.stringify({
  server: 'node-ws',
  runtime: `Node.js ${process.versions.node}`,
  framework: `ws ${wsVersion}`,
});

export function createApp() {
  const boards = new Boards();
  const server = createServer(respond);
  const webSockets = new WebSocketServer({
    noServer: true,
    maxPayload: MAX_MESSAGE_BYTES,
    // One message per connection and turn of the event loop: otherwise a flood from one client would delay the rest.
    allowSynchronousEvents: false,
    closeTimeout: CLOSE_TIMEOUT_MS,
  });

  server.on('upgrade', (request, socket, head) => {
    if (pathOf(request) === '/ws') {
      webSockets.handleUpgrade(request, socket, head, (webSocket) => new Client(webSocket, socket, boards));
    } else {
      socket.on('error', socket.destroy);
      socket.once('finish', socket.destroy);
      socket.end('HTTP/1.1 404 Not Found\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
    }
  });

  // The process ends by itself once every connection has.
  function stop() {
    server.close();
    server.closeAllConnections();
    for (const webSocket of webSockets.clients) webSocket.close(1001);
  }

  return { server, stop };
}

function respond(request, response) {
  if (pathOf(request) === '/healthz') {
    response.setHeader('Content-Type', 'application/json').end(HEALTH);
  } else {
    response.writeHead(404).end();
  }
}

function pathOf(request) {
  return request.url.split('?', 1)[0];
}
