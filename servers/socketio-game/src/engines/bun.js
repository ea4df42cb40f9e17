// Socket.IO on the engine for Bun, which uses the HTTP server and the WebSockets of Bun without node:http in between:
// https://socket.io/blog/bun-engine

import { createRequire } from 'node:module';
import { Server as Engine } from '@socket.io/bun-engine';
import { MAX_QUEUED_BYTES, refuseBinary } from '../guard.js';
import { MAX_BODY_BYTES } from '../http.js';

const { version } = createRequire(import.meta.url)('@socket.io/bun-engine/package.json');

// Above this size Bun answers 413 by itself, without the reason that this server sends.
const MOST_BODY_BYTES = 16 * MAX_BODY_BYTES;

// How long a client may take to answer a close frame. SIGTERM has to end the process within 5 s.
const CLOSE_TIMEOUT_MS = 3000;

export function createEngine(io, { path, maxHttpBufferSize, pingInterval, pingTimeout }, respond) {
  const engine = new Engine({ path, maxHttpBufferSize, pingInterval, pingTimeout, allowRequest });
  io.bind(engine);
  engine.on('connection', refuseBinary);
  const { websocket, ...handler } = engine.handler();
  const webSockets = new Set();
  let server;

  function listen(port) {
    server = Bun.serve({
      ...handler,
      maxRequestBodySize: MOST_BODY_BYTES,
      hostname: '0.0.0.0',
      port,
      fetch: async (request, server) => {
        const { pathname } = new URL(request.url);
        return pathname === path ? engine.handleRequest(request, server) : answer(request, pathname, respond);
      },
      websocket: {
        ...websocket,
        backpressureLimit: MAX_QUEUED_BYTES,
        closeOnBackpressureLimit: true,
        perMessageDeflate: false,
        idleTimeout: 0, // the engine's own pings detect clients that have gone
        sendPings: false,

        open(webSocket) {
          webSockets.add(webSocket);
          websocket.open(webSocket);
        },

        close(webSocket, code, reason) {
          webSockets.delete(webSocket);
          websocket.close(webSocket, code, reason);
        },
      },
    });
    return server.port;
  }

  // An unsolicited pong leaves a timer of the engine behind, which would keep the process alive for 45 s.
  async function stop() {
    setTimeout(() => server.stop(true), CLOSE_TIMEOUT_MS);
    const stopped = server.stop();
    for (const webSocket of [...webSockets]) webSocket.close(1001);
    await stopped;
    process.exit();
  }

  return { version: `@socket.io/bun-engine ${version}`, listen, stop };
}

/** The engine has no option `transports`, and answers an upgrade that Bun refuses with 500. */
async function allowRequest(request) {
  if (request.headers.get('upgrade')?.toLowerCase() !== 'websocket') throw 'only WebSocket is spoken';
  if (request.headers.get('sec-websocket-version') !== '13') throw 'the version of WebSocket must be 13';
  if (!/^[+/\w]{22}==$/.test(request.headers.get('sec-websocket-key'))) throw 'the key of WebSocket is missing or bad';
}

async function answer(request, path, respond) {
  const { status, headers, body } = respond({
    method: request.method,
    path,
    contentType: request.headers.get('content-type') ?? undefined,
    body: await bodyOf(request),
  });
  return new Response(body, { status, headers });
}

/** Returns the text, or nothing if it is too large. */
async function bodyOf(request) {
  const chunks = [];
  let bytes = 0;
  for await (const chunk of request.body ?? []) {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}
