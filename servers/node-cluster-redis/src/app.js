// The HTTP server of a worker: answers /healthz, upgrades /ws, and closes both. client.js handles the messages of
// clients.

import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { WebSocketServer } from 'ws';
import { Client } from './client.js';

const MAX_MESSAGE_BYTES = 64 * 1024;

// How long a client may take to answer a close frame. SIGTERM has to end the process within 5 s.
const CLOSE_TIMEOUT_MS = 3000;

const { version: wsVersion } = createRequire(import.meta.url)('ws/package.json');

export function createApp(channels) {
  const health = JSON.stringify({
    server: channels.constructor.server,
    runtime: `Node.js ${process.versions.node}`,
    framework: [`ws ${wsVersion}`, ...channels.constructor.libraries].join(', '),
  });
  let isHealthy = false;

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
      webSockets.handleUpgrade(request, socket, head, (webSocket) => new Client(webSocket, socket, channels));
    } else {
      socket.on('error', socket.destroy);
      socket.once('finish', socket.destroy);
      socket.end('HTTP/1.1 404 Not Found\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
    }
  });

  function respond(request, response) {
    if (pathOf(request) === '/healthz') {
      // Without Redis a client would wait for its `joined`, and what it draws would be lost.
      response.writeHead(isHealthy && channels.isReady ? 200 : 503, { 'Content-Type': 'application/json' }).end(health);
    } else {
      response.writeHead(404).end();
    }
  }

  /** `healthy` means that all workers are connected to Redis. */
  function setHealthy(healthy) {
    isHealthy = healthy;
  }

  // `server` emits `close` once every connection has ended.
  function stop() {
    server.close();
    server.closeAllConnections();
    for (const webSocket of webSockets.clients) webSocket.close(1001);
  }

  return { server, setHealthy, stop };
}

function pathOf(request) {
  return request.url.split('?', 1)[0];
}
