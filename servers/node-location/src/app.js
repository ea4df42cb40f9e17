// The HTTP server: routes requests, refuses invalid ones, and keeps streams and sockets.

import { createServer, STATUS_CODES } from 'node:http';
import { createRequire } from 'node:module';
import { WebSocketServer } from 'ws';
import { Groups } from './groups.js';
import { checkIds, parsePosition, parseVersion, Refused } from './position.js';
import { converse } from './socket.js';
import { stream } from './stream.js';

const MAX_BODY_BYTES = 64 * 1024;

// How long a connection is kept for the next request.
const IDLE_TIMEOUT_MS = 60_000;

// How long requests may take to end, and clients to answer a close frame. SIGTERM has to end the process within 5 s.
const STOP_TIMEOUT_MS = 3000;

const READ = ['GET', 'HEAD'];

const TRANSPORT = process.env.TRANSPORT ?? 'sse';
const { version: wsVersion } = createRequire(import.meta.url)('ws/package.json');

const HEALTH = {
  server: `node-location/${TRANSPORT}`,
  runtime: `Node.js ${process.versions.node}`,
  framework: TRANSPORT === 'websocket' ? `ws ${wsVersion}` : `node:http ${process.versions.node}`,
};

export function createApp() {
  const groups = new Groups();
  const streams = new Set();

  const server = createServer({ keepAliveTimeout: IDLE_TIMEOUT_MS }, (request, response) => {
    response.once('close', () => {
      if (!server.listening) server.closeIdleConnections();
    });
    receiveBody(request, response, (body) => refusing(response, () => route(request, response, body)));
  });

  const webSockets = new WebSocketServer({
    noServer: true,
    maxPayload: MAX_BODY_BYTES,
    // One message per connection and turn of the event loop: otherwise a flood from one client would delay the rest.
    allowSynchronousEvents: false,
    closeTimeout: STOP_TIMEOUT_MS,
  });

  server.on('upgrade', (request, socket, head) => {
    const { parts, query } = locate(request);
    if (parts[0] !== 'groups' || parts[2] !== 'socket' || parts.length !== 3) return hangUp(socket, 404);
    const [group, user] = [parts[1], query.get('user') ?? ''];
    try {
      checkIds(group, user);
    } catch {
      return hangUp(socket, 400);
    }
    webSockets.handleUpgrade(request, socket, head, (webSocket) => {
      converse(webSocket, socket, groups.get(group), user);
    });
  });

  function route(request, response, body) {
    const { parts, query } = locate(request);
    const path = parts.map((part, index) => (parts[0] === 'groups' && index % 2 ? '*' : part)).join('/');
    const [methods, respond] = routes[path] ?? [];
    if (!respond) throw new Refused(STATUS_CODES[404], 404);
    if (!methods.includes(request.method)) {
      response.setHeader('Allow', methods.join(', '));
      throw new Refused(STATUS_CODES[405], 405);
    }
    respond({ request, response, body, query, group: parts[1], user: parts[3] ?? query.get('user') ?? '' });
  }

  const routes = {
    healthz: [READ, ({ response }) => respondJson(response, 200, HEALTH)],
    metricz: [READ, ({ response }) => respondJson(response, 200, groups.count())],
    'groups/*/positions/*': [['PUT'], put],
    'groups/*/events': [['GET'], listen],
    'groups/*/socket': [['GET'], upgradeRequired],
  };

  function put({ request, response, body, group, user }) {
    const [type] = (request.headers['content-type'] ?? '').split(';', 1);
    if (type.trim().toLowerCase() !== 'application/json') throw new Refused('a position must be application/json', 415);
    checkIds(group, user);
    groups.get(group).put(user, parsePosition(user, body));
    response.writeHead(204).end();
  }

  function listen({ request, response, group, user }) {
    checkIds(group, user);
    const version = parseVersion(request.headers['last-event-id']);
    streams.add(response);
    response.once('close', () => streams.delete(response));
    stream(response, groups.get(group), user, version);
  }

  function upgradeRequired({ response, group, user }) {
    checkIds(group, user);
    response.setHeader('Upgrade', 'websocket');
    throw new Refused(STATUS_CODES[426], 426);
  }

  // The process ends by itself once every connection has.
  function stop() {
    groups.stop();
    server.close();
    for (const response of streams) response.end();
    for (const webSocket of webSockets.clients) webSocket.close(1001);
    setTimeout(() => server.closeAllConnections(), STOP_TIMEOUT_MS).unref();
  }

  return { server, stop };
}

/** Returns the parts of the path, decoded, and the query. */
function locate({ url }) {
  const [path, query] = url.split('?', 2);
  const parts = path.slice(1).split('/').map(decode);
  return { parts, query: new URLSearchParams(query) };
}

/** Decodes a part of the path. A part that cannot be decoded is not an id, and is returned unchanged. */
function decode(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function hangUp(socket, status) {
  socket.on('error', socket.destroy);
  socket.once('finish', socket.destroy);
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
}

/** Calls `next` with the body, unless it is too large. Everything beyond the limit is read and discarded. */
function receiveBody(request, response, next) {
  const chunks = [];
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
    if (!response.headersSent) chunks.push(chunk);
  });
  request.on('end', () => {
    if (!response.headersSent) next(Buffer.concat(chunks).toString());
  });
}

function refusing(response, respond) {
  try {
    respond();
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    refuse(response, error.status, error.message);
  }
}

function refuse(response, status, reason) {
  respondJson(response, status, { error: reason });
}

function respondJson(response, status, body) {
  response.statusCode = status;
  response.setHeader('Content-Type', 'application/json').end(JSON.stringify(body));
}
