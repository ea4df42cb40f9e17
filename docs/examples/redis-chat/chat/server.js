// A chat with several instances: Redis passes what one of them hears to the others, a channel for each room.
// https://github.com/websockets/ws#server-broadcast, https://github.com/redis/node-redis/blob/master/docs/pub-sub.md
import { createClient } from '@redis/client';
import { WebSocketServer } from 'ws';

const publisher = await createClient({ url: process.env.REDIS_URL }).connect();
const subscriber = await publisher.duplicate().connect();
const rooms = new Map(); // path -> Set of clients
const server = new WebSocketServer({ port: 8080 });

const deliver = (text, room) => {
  for (const client of rooms.get(room) ?? []) client.send(text);
};

server.on('connection', async (client, request) => {
  const room = request.url;
  client.on('error', console.error);
  client.on('message', (data) => publisher.publish(room, data.toString()));
  client.on('close', () => rooms.get(room).delete(client));
  if (!rooms.has(room)) rooms.set(room, new Set());
  rooms.get(room).add(client);
  await subscriber.subscribe(room, deliver);
});

process.on('SIGTERM', () => process.exit());
