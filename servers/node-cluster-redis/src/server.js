// The primary process: starts the workers, replaces those that die, and stops them all on SIGTERM.
//
// It also accepts the connections and deals them out to the workers in turn. That is the cluster module's default,
// because workers that accept from one listening socket by themselves get very unequal shares, and connections here
// last: an unequal share would never even out.

import cluster from 'node:cluster';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';

const WORKERS = Number(process.env.WORKERS ?? availableParallelism());

const listening = new Set(); // ids of workers
const ready = new Set();
let isStopping = false;

cluster.setupPrimary({ exec: fileURLToPath(new URL('worker.js', import.meta.url)) });
for (let started = 0; started < WORKERS; started++) cluster.fork();

// Any worker may be asked for /healthz, and the answer is for all of them: clients can connect when each of them is
// connected to Redis, as the next client may be any worker's.
cluster.on('message', (worker, { isReady }) => {
  if (isReady) ready.add(worker.id);
  else ready.delete(worker.id);
  shareHealth();
});

cluster.on('listening', (worker) => listening.add(worker.id));

cluster.on('exit', (worker) => {
  ready.delete(worker.id);
  if (isStopping) return;
  if (!listening.delete(worker.id)) process.exit(1); // another one would not come so far as to listen either
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

// A worker that has just died cannot be told anything, and `exit` is about to say so.
function ignoreItsEnd() {}
