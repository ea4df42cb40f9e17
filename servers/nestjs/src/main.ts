// Starts the server.

import { createApp } from './app.js';

const app = await createApp();
// The process ends when Nest has closed everything rather than by the signal, so that its exit code is 0.
app.enableShutdownHooks(['SIGTERM'], { useProcessExit: true });
await app.listen(process.env.PORT ?? 8080, '0.0.0.0');
