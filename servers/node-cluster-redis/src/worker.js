// One worker: serves the connections that the primary assigns to it.

import cluster from 'node:cluster';
import { createApp } from './app.js';
import { ChannelPerBoard } from './channel-per-board.js';
import { OneChannel } from './one-channel.js';

const Channels = { one: OneChannel, 'per-board': ChannelPerBoard }[process.env.CHANNELS ?? 'one'];

const port = Number(process.env.PORT ?? 8080);
const redisUrl = process.env.REDIS_URL ?? 'redis://127.0.0.1:6379';

const channels = new Channels(redisUrl, (isReady) => {
  if (process.connected) process.send({ isReady });
});
const app = createApp(channels);

process.on('message', ({ isHealthy }) => app.setHealthy(isHealthy));
app.server.listen(port, '0.0.0.0');
process.once('SIGTERM', app.stop);
app.server.once('close', () => {
  channels.close();
  cluster.worker.disconnect();
});
