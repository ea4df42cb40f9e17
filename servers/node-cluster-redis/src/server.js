// The primary process: starts the workers, replaces those that die, and stops them all on SIGTERM.
//
// It also accepts the connections and assigns them to the workers round-robin. That is the cluster module's default,
// because workers that accept from one listening socket by themselves get very unequal shares. Connections here last,
// so an unequal share would never even out.

import cluster from 'node:cluster';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';

const WORKERS = Number(process.env.WORKERS ?? availableParallelism());

const listening = new Set(); // ids of workers
const ready = new Set();
let isStopping = false;

cluster.setupPrimary({ exec: fileURLToPath(new URL('worker.js', import.meta.url)) });
for (let started = 0; started < WORKERS; started++) cluster.fork();

// Any worker may be asked for /healthz and answers for all of them: clients can connect only when each worker is
// connected to Redis, because the next client may reach any worker.
cluster.on('message', (worker, { isReady }) => {
  if (isReady) ready.add(worker.id);
  else ready.delete(worker.id);
  shareHealth();
});

cluster.on('listening', (worker) => listening.add(worker.id));

cluster.on('exit', (worker) => {
  ready.delete(worker.id);
  if (isStopping) return;
  if (!listening.delete(worker.id)) process.exit(1); // a replacement would not manage to listen either
  shareHealth();
  cluster.fork();
});

process.once('SIGTERM', () => {
  isStopping = true;
  for (const worker of Object.values(cluster.workers)) worker.process.kill('SIGTERM');
});

function shareHealth() {
  const isHealthy = ready.size === WORKERS;
  for (const worker of Object.values(cluster.workers)) worker.send({ isHealthy }, ignoreItsEnd);
}

// A worker that has just died cannot receive anything, and `exit` is about to follow.
function ignoreItsEnd() {}
