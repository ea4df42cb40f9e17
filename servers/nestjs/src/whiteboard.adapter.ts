import { once } from 'node:events';
import { WsAdapter } from '@nestjs/platform-ws';
import { type ServerOptions, WebSocketServer } from 'ws';

/** Nest's adapter for ws, with the whiteboard's rules for unknown paths, faulty clients and the end of the server. */
export class WhiteboardAdapter extends WsAdapter {
  /** Makes ws check the path of an upgrade. On an unknown path, Nest would end the connection without an answer. */
  override create(_port: number, options: ServerOptions): WebSocketServer {
    return this.bindErrorHandler(new WebSocketServer({ ...options, server: this.httpServer }));
  }

  /** Nest would log a line for each. ws has already closed the connection with the right code, such as 1009. */
  override bindErrorHandler(server: WebSocketServer): WebSocketServer {
    server.on('connection', (client) => client.on('error', () => {}));
    return server;
  }

  /** Sends clients "going away", and waits until they have left. Nest would cut their connections. */
  override async close(server: WebSocketServer): Promise<void> {
    const closed = once(server, 'close');
    server.close();
    for (const client of server.clients) client.close(1001);
    await closed;
  }
}
