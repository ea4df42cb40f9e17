// WebSocket frames as a server sends them: unmasked, so that one frame serves all its receivers.

import { Sender } from 'ws';

const TEXT_OPCODE = 1;

/** As a single buffer, so that each receiver costs one write. `webSocket.send` would frame it again for each. */
export function frameText(payload) {
  return Buffer.concat(Sender.frame(payload, { fin: true, opcode: TEXT_OPCODE }));
}
