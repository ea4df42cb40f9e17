// The HTTP server: answers /healthz, upgrades /ws, and closes both. client.js handles the messages of clients.

import { Client } from './client.js';
import { App, DISABLED, us_listen_socket_close, us_socket_local_port, VERSION } from './uwebsockets.js';

const MAX_MESSAGE_BYTES = 64 * 1024;

// Beyond `maxPayloadLength` uWebSockets.js drops a connection without a close frame. So that a client receives 1009, it
// may send more than a message may have: as much as may be queued for it.
const MAX_RECEIVED_BYTES = 1024 * 1024;

// A client that does not read is disconnected, because its queue would grow without bound.
const MAX_QUEUED_BYTES = 1024 * 1024;

// How long a client may take to answer a close frame. SIGTERM has to end the process within 5 s.
const CLOSE_TIMEOUT_MS = 3000;

const HEALTH = JSON.stringify({
  server: 'node-uws',
  runtime: `Node.js ${process.versions.node}`,
  framework: VERSION,
});

export function createApp() {
  const clients = new Set();
  const app = App();
  let stopping = false;
  let listenSocket;

  app.ws('/ws', {
    compression: DISABLED,
    maxPayloadLength: MAX_RECEIVED_BYTES,
    maxBackpressure: MAX_QUEUED_BYTES,
    closeOnBackpressureLimit: true,
    idleTimeout: 0,
    sendPingsAutomatically: false,

    upgrade(response, request, context) {
      if (stopping) {
        response.close();
      } else if (request.getHeader('sec-websocket-version') !== '13') {
        response.writeStatus('426 Upgrade Required').writeHeader('Sec-WebSocket-Version', '13').endWithoutBody(0, true);
      } else {
        response.upgrade(
          {},
          request.getHeader('sec-websocket-key'),
          request.getHeader('sec-websocket-protocol'),
          request.getHeader('sec-websocket-extensions'),
          context,
        );
      }
    },

    open(webSocket) {
      webSocket.client = new Client(webSocket, app);
      clients.add(webSocket.client);
    },

    message(webSocket, data, isBinary) {
      if (data.byteLength > MAX_MESSAGE_BYTES) {
        webSocket.client.close(1009);
      } else {
        webSocket.client.receive(data, isBinary);
      }
    },

    close(webSocket) {
      clients.delete(webSocket.client);
    },
  });

  app.get('/healthz', (response) => {
    response.writeHeader('Content-Type', 'application/json').end(HEALTH);
  });
  app.any('/*', (response) => {
    response.writeStatus('404 Not Found').end();
  });

  /** @returns {Promise<number>} the port, once clients can connect; 0 chooses a free one */
  function listen(port) {
    return new Promise((resolve, reject) => {
      app.listen('0.0.0.0', port, (socket) => {
        listenSocket = socket;
        if (socket) resolve(us_socket_local_port(socket));
        else reject(new Error(`cannot listen on port ${port}`));
      });
    });
  }

  // The process ends by itself once every connection has.
  function stop() {
    stopping = true;
    us_listen_socket_close(listenSocket);
    for (const client of clients) client.close(1001);
    setTimeout(() => app.close(), CLOSE_TIMEOUT_MS).unref();
  }

  return { listen, stop };
}
