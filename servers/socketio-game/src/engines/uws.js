// Socket.IO on uWebSockets.js, which then also publishes to the rooms:
// https://socket.io/docs/v4/server-installation/#usage-with-uwebsockets

import { STATUS_CODES } from 'node:http';
import { MAX_QUEUED_BYTES, refuseBinary } from '../guard.js';
import { MAX_BODY_BYTES } from '../http.js';
import { App, us_listen_socket_close, us_socket_local_port, VERSION } from '../uwebsockets.js';

// Beyond `maxPayloadLength` uWebSockets.js drops a connection without a close frame. So that a client receives 1009, it
// may send more than a message may have: as much as may be queued for it.
const MAX_RECEIVED_BYTES = 1024 * 1024;

// How long a client may take to answer a close frame. SIGTERM has to end the process within 5 s.
const CLOSE_TIMEOUT_MS = 3000;

export function createEngine(io, { maxHttpBufferSize }, respond) {
  const app = App();
  const webSockets = new Set();
  const state = { stopping: false };
  let listenSocket;

  const routes = {
    any(...route) {
      app.any(...route);
      return routes;
    },
    ws: (path, behavior) => app.ws(path, behaving(behavior, maxHttpBufferSize, webSockets, state)),
    publish: (...message) => app.publish(...message),
  };
  io.attachApp(routes, { idleTimeout: 0, maxBackpressure: MAX_QUEUED_BYTES });
  io.engine.on('connection', refuseBinary);
  app.any('/*', (response, request) => answer(response, request, respond));

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
    state.stopping = true;
    us_listen_socket_close(listenSocket);
    for (const webSocket of [...webSockets]) webSocket.end(1001);
    setTimeout(() => app.close(), CLOSE_TIMEOUT_MS).unref();
  }

  return { version: VERSION, listen, stop };
}

/**
 * Socket.IO passes on three options of the WebSockets' behaviour: `compression`, `idleTimeout`, `maxBackpressure`.
 * Without `closeOnBackpressureLimit`, messages beyond the limit would be dropped and the connection kept.
 */
function behaving(behavior, maxMessageBytes, webSockets, state) {
  return {
    ...behavior,
    maxPayloadLength: MAX_RECEIVED_BYTES,
    closeOnBackpressureLimit: true,
    sendPingsAutomatically: false,

    upgrade(response, request, context) {
      if (state.stopping) {
        response.close();
      } else if (request.getHeader('sec-websocket-version') !== '13') {
        response.writeStatus('426 Upgrade Required').writeHeader('Sec-WebSocket-Version', '13').endWithoutBody(0, true);
      } else {
        behavior.upgrade(response, request, context);
      }
    },

    open(webSocket) {
      webSockets.add(webSocket);
      behavior.open(webSocket);
    },

    message(webSocket, data, isBinary) {
      if (data.byteLength > maxMessageBytes) webSocket.end(1009);
      else behavior.message(webSocket, data, isBinary);
    },

    close(webSocket, code, reason) {
      webSockets.delete(webSocket);
      behavior.close(webSocket, code, reason);
    },
  };
}

/** Answers a request once its body is complete, or is too large. The request itself is only valid during the call. */
function answer(response, request, respond) {
  const method = request.getMethod().toUpperCase();
  const path = request.getUrl();
  const contentType = request.getHeader('content-type');
  const chunks = [];
  let bytes = 0;
  let done = false;

  function finish(body) {
    done = true;
    const { status, headers, body: text } = respond({ method, path, contentType, body });
    response.cork(() => {
      response.writeStatus(`${status} ${STATUS_CODES[status]}`);
      for (const [name, value] of Object.entries(headers)) response.writeHeader(name, value);
      if (method === 'HEAD') response.endWithoutBody(Buffer.byteLength(text));
      else response.end(text);
    });
  }

  response.onAborted(() => {
    done = true;
  });
  response.onData((chunk, isLast) => {
    if (done) return;
    bytes += chunk.byteLength;
    if (bytes > MAX_BODY_BYTES) return finish();
    chunks.push(Buffer.from(chunk.slice(0)));
    if (isLast) finish(Buffer.concat(chunks).toString());
  });
}
