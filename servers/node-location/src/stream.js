// One client of server-sent events.

const HEADERS = { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-cache' };

// A client that does not read is disconnected, because its queue would grow without bound.
const MAX_QUEUED_BYTES = 1024 * 1024;

/** Sends the client the news that it does not have, and every further position, until the response is closed. */
export function stream(response, group, user, version) {
  const tell = ({ event }) => {
    if (response.writableLength + event.length > MAX_QUEUED_BYTES) response.destroy();
    else response.write(event);
  };
  response.writeHead(200, HEADERS);
  tell(group.since(user, version));
  group.listen(user, tell);
  response.once('close', () => group.leave(tell));
}
