// Ends connections that send binary packets, and connections whose clients do not read.

// A client that does not read is disconnected, because its queue would grow without bound.
const MAX_QUEUED_BYTES = 1024 * 1024;

/** Watches a connection of Engine.IO: https://socket.io/docs/v4/server-socket-instance/#socketconn */
export function guard(connection) {
  const webSocket = connection.transport.socket; // of ws
  let waiting = 0; // bytes of the packets that wait until the WebSocket has written earlier ones

  connection.on('packetCreate', (packet) => {
    waiting += sizeOf(packet);
    if (waiting + webSocket.bufferedAmount > MAX_QUEUED_BYTES) webSocket.terminate();
  });
  connection.on('flush', () => {
    waiting = 0;
  });
  connection.on('packet', ({ data }) => {
    // Socket.IO would accept the attachments of an event, and pass them on to the other members.
    if (data !== undefined && typeof data !== 'string') connection.close();
  });
}

// A broadcast has one frame for all its members.
function sizeOf({ data = '', options }) {
  const frame = options.wsPreEncodedFrame;
  return frame ? frame.reduce((bytes, part) => bytes + part.length, 0) : Buffer.byteLength(data);
}
