// The broadcast of https://github.com/websockets/ws#server-broadcast, in rooms: /chat/ROOM is one.
import { WebSocket, WebSocketServer } from 'ws';

const server = new WebSocketServer({ port: Number(process.env.PORT || 8080) });

server.on('connection', (client, request) => {
  client.room = request.url;
  client.on('error', console.error);
  client.on('message', (data, isBinary) => {
    for (const other of server.clients) {
      if (other.room === client.room && other.readyState === WebSocket.OPEN) {
        other.send(data, { binary: isBinary });
      }
    }
  });
});
