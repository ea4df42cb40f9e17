// uWebSockets.js, and its description on /healthz. Its releases have a default export, and some are CommonJS; its
// re-pack on npm has named exports only.

import * as namespace from 'uWebSockets.js';
import { createRequire } from 'node:module';

export const { App, DISABLED, us_listen_socket_close, us_socket_local_port } = namespace.default ?? namespace;

const { name, version } = createRequire(import.meta.url)('../node_modules/uWebSockets.js/package.json');

// The re-pack shares its major version with the release whose binaries it contains, and reports no more about it.
export const VERSION =
  name === 'uWebSockets.js' ? `${name} ${version}` : `uWebSockets.js ${version.split('.')[0]} (${name} ${version})`;
