// The HTTP server: routes requests, refuses invalid ones, and keeps the streams. stream.js handles the pace of a
// stream.

import { createServer, STATUS_CODES } from 'node:http';
import { BadRequest, parseRequest } from './request.js';
import { Stream } from './stream.js';

const MAX_BODY_BYTES = 64 * 1024;

// How long a connection is kept for the next request.
const IDLE_TIMEOUT_MS = 60_000;

// How long requests may take to end. SIGTERM has to end the process within 5 s.
const STOP_TIMEOUT_MS = 3000;

const ALLOWED_METHODS = ['GET', 'HEAD'];

const HEALTH = {
  server: 'node-sse',
  runtime: `Node.js ${process.versions.node}`,
  framework: `node:http ${process.versions.node}`,
};

export function createApp() {
  const streams = new Set();

  const routes = new Map([
    ['/healthz', (_request, response) => respondJson(response, 200, HEALTH)],
    ['/metricz', (_request, response) => respondJson(response, 200, { active_streams: streams.size })],
    ['/stream', respondStream],
  ]);

  const server = createServer({ keepAliveTimeout: IDLE_TIMEOUT_MS }, (request, response) => {
    response.once('close', () => {
      if (!server.listening) server.closeIdleConnections();
    });
    receiveBody(request, response, () => route(request, response));
  });

  function route(request, response) {
    const respond = routes.get(request.url.split('?', 1)[0]);
    if (!respond) {
      refuse(response, 404, STATUS_CODES[404]);
    } else if (!ALLOWED_METHODS.includes(request.method)) {
      response.setHeader('Allow', ALLOWED_METHODS.join(', '));
      refuse(response, 405, STATUS_CODES[405]);
    } else {
      respond(request, response);
    }
  }

  function respondStream(request, response) {
    let wanted;
    try {
      wanted = parseRequest(request);
    } catch (error) {
      if (!(error instanceof BadRequest)) throw error;
      refuse(response, 400, error.message);
      return;
    }
    const stream = new Stream(response, wanted);
    streams.add(stream);
    // It is emitted when the last event is sent, and as soon as the client leaves.
    response.once('close', () => {
      stream.stop();
      streams.delete(stream);
    });
    stream.start();
  }

  // The process ends by itself once every connection has.
  function stop() {
    server.close();
    for (const stream of streams) stream.end();
    setTimeout(() => server.closeAllConnections(), STOP_TIMEOUT_MS).unref();
  }

  return { server, stop };
}

/** Calls `next` after the body, unless it is too large. Everything beyond the limit is read and discarded. */
function receiveBody(request, response, next) {
  let bytes = 0;
  const refuseLarger = (size) => {
    if (size > MAX_BODY_BYTES && !response.headersSent) {
      refuse(response, 413, `a body must have at most ${MAX_BODY_BYTES} bytes`);
    }
  };
  refuseLarger(Number(request.headers['content-length'] ?? 0));
  request.on('data', (chunk) => {
    bytes += chunk.length;
    refuseLarger(bytes);
  });
  request.on('end', () => {
    if (!response.headersSent) next();
  });
}

function refuse(response, status, reason) {
  respondJson(response, status, { error: reason });
}

function respondJson(response, status, body) {
  response.statusCode = status;
  response.setHeader('Content-Type', 'application/json').end(JSON.stringify(body));
}
