// One client over a WebSocket.

import { Sender, WebSocket } from 'ws';
import { parsePosition, Refused } from './position.js';

// A client that does not read is disconnected, because its queue would grow without bound.
const MAX_QUEUED_BYTES = 1024 * 1024;

const TEXT_OPCODE = 1;

const frames = new WeakMap(); // of news

/** Sends the client every position, and puts the positions that it sends, until the connection is closed. */
export function converse(webSocket, socket, group, user) {
  function send(frame) {
    if (webSocket.readyState !== WebSocket.OPEN) return;
    if (socket.writableLength + frame.length > MAX_QUEUED_BYTES) webSocket.terminate();
    else socket.write(frame);
  }

  function receive(data, isBinary) {
    try {
      if (isBinary) throw new Refused('a position must be a text frame');
      group.put(user, parsePosition(user, data.toString()));
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      send(frameText(JSON.stringify({ error: error.message })));
    }
  }

  const tell = (news) => send(frameOf(news));
  tell(group.since(user));
  group.listen(user, tell);
  webSocket.on('message', receive);
  webSocket.on('close', () => group.leave(tell));
  // ws has already closed the connection with the right code: 1009 for a message that is too large, and so on.
  webSocket.on('error', () => {});
}

/** The same frame serves all recipients: a server's frames are unmasked. */
function frameOf(news) {
  let frame = frames.get(news);
  if (!frame) {
    frame = frameText(news.body);
    frames.set(news, frame);
  }
  return frame;
}

/** As a single buffer, so that each client costs one write. */
function frameText(text) {
  return Buffer.concat(Sender.frame(Buffer.from(text), { fin: true, opcode: TEXT_OPCODE }));
}
