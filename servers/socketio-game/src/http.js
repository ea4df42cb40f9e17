// The answers to requests other than Socket.IO's, whatever the HTTP server.

import { STATUS_CODES } from 'node:http';
import { parseMatchmaking, Refused } from './message.js';

export const MAX_BODY_BYTES = 64 * 1024;

const READ = ['GET', 'HEAD'];

/**
 * Returns a function of a request `{ method, path, contentType, body }`, whose body is undefined if it is too large. It
 * returns `{ status, headers, body }`.
 */
export function respondingWith({ health, metrics, match }) {
  const routes = {
    '/healthz': [READ, health],
    '/metricz': [READ, metrics],
    '/api/pvp/matchmake': [['POST'], matchmake],
  };

  function matchmake({ contentType = '', body }) {
    if (body === undefined) return refusal(413, `a body must have at most ${MAX_BODY_BYTES} bytes`);
    const [type] = contentType.split(';', 1);
    if (type.trim().toLowerCase() !== 'application/json') return refusal(415, 'the body must be application/json');
    try {
      return answer(200, { roomId: match(parseMatchmaking(body)) });
    } catch (error) {
      if (error instanceof Refused) return refusal(400, error.message);
      throw error;
    }
  }

  return (request) => {
    if (!Object.hasOwn(routes, request.path)) return refusal(404);
    const [methods, respond] = routes[request.path];
    if (!methods.includes(request.method)) return refusal(405, STATUS_CODES[405], { Allow: methods.join(', ') });
    return respond === matchmake ? matchmake(request) : answer(200, respond());
  };
}

function refusal(status, reason = STATUS_CODES[status], headers = {}) {
  return answer(status, { error: reason }, headers);
}

function answer(status, body, headers = {}) {
  return { status, headers: { 'Content-Type': 'application/json', ...headers }, body: JSON.stringify(body) };
}
