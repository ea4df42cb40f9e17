// The chat of ../ws-chat in MessagePack: https://github.com/msgpack/msgpack-javascript. /chat/ROOM is a room.
import { decode, encode } from '@msgpack/msgpack';
import { WebSocket, WebSocketServer } from 'ws';

const server = new WebSocketServer({ port: Number(process.env.PORT || 8080) });

server.on('connection', (client, request) => {
  client.room = request.url;
  client.on('error', console.error);
  client.on('message', (data) => {
    const message = encode({ ...decode(data), received: new Date() });
    for (const other of server.clients) {
      if (other.room === client.room && other.readyState === WebSocket.OPEN) other.send(message);
    }
  });
});
