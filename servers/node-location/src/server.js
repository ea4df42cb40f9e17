// Starts the server and stops it on SIGTERM.

import { createApp } from './app.js';

const port = Number(process.env.PORT ?? 8080);
const app = createApp();

app.server.listen(port, '0.0.0.0');
process.once('SIGTERM', app.stop);
