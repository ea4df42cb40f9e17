import { WebSocket } from 'ws';

const MAX_QUEUED_BYTES = 1024 * 1024;

/** A connection that is closed if the client does not read, because its queue would grow without bound. */
export class BoundedWebSocket extends WebSocket {
  override send(data: string | Buffer, options: object = {}): void {
    if (this.readyState !== WebSocket.OPEN) return;
    if (this.bufferedAmount + Buffer.byteLength(data) > MAX_QUEUED_BYTES) this.terminate();
    else super.send(data, options);
  }
}
