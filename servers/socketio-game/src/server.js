// Starts the server on the engine that ENGINE names, and stops it on SIGTERM.

import { createApp } from './app.js';

const MODULES = {
  'node-ws': './engines/node-http.js',
  'node-uws': './engines/uws.js',
  'bun-ws': './engines/node-http.js',
  'bun-native': './engines/bun.js',
};

const name = process.env.ENGINE ?? 'node-ws';
const app = createApp(name, await import(MODULES[name]));

await app.listen(Number(process.env.PORT ?? 8080));
process.once('SIGTERM', app.stop);
