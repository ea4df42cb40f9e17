// Socket.IO on node:http, with the WebSockets of ws: its default. Bun has both built in, under the same names.

import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { guard } from '../guard.js';
import { MAX_BODY_BYTES } from '../http.js';

// How long a client may take to answer a close frame. SIGTERM has to end the process within 5 s.
const CLOSE_TIMEOUT_MS = 3000;

export function createEngine(io, { path }, respond) {
  const server = createServer((request, response) => {
    receiveBody(request, (body) => {
      const {
        status,
        headers,
        body: text,
      } = respond({
        method: request.method,
        path: request.url.split('?', 1)[0],
        contentType: request.headers['content-type'],
        body,
      });
      response.writeHead(status, headers).end(text);
    });
  });
  server.on('upgrade', (request, socket) => {
    if (request.url.startsWith(path)) return;
    socket.on('error', socket.destroy);
    socket.once('finish', socket.destroy);
    socket.end('HTTP/1.1 404 Not Found\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
  });
  io.attach(server, { destroyUpgrade: false }); // other paths are refused above
  io.engine.on('connection', (connection) => guard(connection, connection.transport.socket));

  // The process ends by itself once every connection has. `io.close()` would close them without a code.
  function stop() {
    server.close();
    server.closeIdleConnections();
    const webSockets = Object.values(io.engine.clients).map((connection) => connection.transport.socket);
    for (const webSocket of webSockets) webSocket.close(1001);
    setTimeout(() => {
      for (const webSocket of webSockets) webSocket.terminate();
      server.closeAllConnections();
    }, CLOSE_TIMEOUT_MS).unref();
  }

  return {
    version: process.versions.bun ? 'the ws of Bun' : `ws ${createRequire(import.meta.url)('ws/package.json').version}`,
    listen: (port) => new Promise((resolve) => server.listen(port, '0.0.0.0', () => resolve(server.address().port))),
    stop,
  };
}

/** Calls `next` with the body, or without one as soon as it is too large. The rest is then read and discarded. */
function receiveBody(request, next) {
  const chunks = [];
  let bytes = 0;
  let answered = false;
  const answer = (body) => {
    if (!answered) next(body);
    answered = true;
  };
  request.on('data', (chunk) => {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) answer();
    else chunks.push(chunk);
  });
  request.on('end', () => answer(Buffer.concat(chunks).toString()));
}
