// Starts the server and stops it on SIGTERM.

import { createApp } from './app.js';

const app = createApp();

await app.listen(Number(process.env.PORT ?? 8080));
process.once('SIGTERM', app.stop);
