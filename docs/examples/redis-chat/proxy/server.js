// Passes each connection on to the next backend in turn, once all of them listen. It stands for the proxy that you
// have.
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { pipeline } from 'node:stream';
import { setTimeout } from 'node:timers/promises';

const backends = process.env.BACKENDS.split(' ').map((host) => ({ host, port: 8080, noDelay: true }));
let next = 0;

process.on('SIGTERM', () => process.exit());

for (const backend of backends) {
  while (!(await listens(backend))) await setTimeout(100);
}

createServer({ noDelay: true }, (client) => {
  const backend = connect(backends[next++ % backends.length]);
  pipeline(client, backend, client, () => {});
}).listen(8080);

async function listens(backend) {
  const socket = connect(backend);
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
