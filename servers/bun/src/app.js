// The HTTP server: answers /healthz, upgrades /ws, and closes both. client.js handles the messages of clients.

import { Client } from './client.js';

const MAX_MESSAGE_BYTES = 64 * 1024;

// A client that does not read is disconnected, because its queue would grow without bound.
const MAX_QUEUED_BYTES = 1024 * 1024;

// How long a client may take to read its queue when the server stops. SIGTERM has to end the process within 5 s.
const CLOSE_TIMEOUT_MS = 3000;

const HEALTH = {
  server: 'bun',
  runtime: `Bun ${Bun.version}`,
  framework: `Bun.serve ${Bun.version}`,
};

export function createApp(port) {
  const webSockets = new Set();

  const server = Bun.serve({
    hostname: '0.0.0.0',
    port,
    routes: {
      '/healthz': Response.json(HEALTH),
      '/ws': upgrade,
    },
    fetch: () => new Response(null, { status: 404 }),
    websocket: {
      maxPayloadLength: MAX_MESSAGE_BYTES,
      backpressureLimit: MAX_QUEUED_BYTES,
      closeOnBackpressureLimit: true,
      perMessageDeflate: false,
      idleTimeout: 0,
      sendPings: false,

      open(webSocket) {
        webSocket.data = new Client(webSocket, server);
        webSockets.add(webSocket);
      },

      message(webSocket, message) {
        webSocket.data.receive(message);
      },

      close(webSocket) {
        webSockets.delete(webSocket);
      },
    },
  });

  function stop() {
    server.stop();
    const unread = [...webSockets].some((webSocket) => webSocket.getBufferedAmount() > 0);
    for (const webSocket of webSockets) webSocket.close(1001);
    // Bun would end the process once all close frames are sent, and does not report when earlier messages are written.
    if (unread) setTimeout(() => {}, CLOSE_TIMEOUT_MS);
  }

  return { server, stop };
}

function upgrade(request, server) {
  if (request.headers.get('sec-websocket-version') !== '13') {
    return new Response(null, { status: 426, headers: { 'Sec-WebSocket-Version': '13' } });
  }
  if (!server.upgrade(request)) return new Response(null, { status: 400 });
}
