import { UseFilters } from '@nestjs/common';
import {
  ConnectedSocket,
  MessageBody,
  type OnGatewayDisconnect,
  SubscribeMessage,
  WebSocketGateway,
  WsException,
} from '@nestjs/websockets';
import { WebSocket } from 'ws';
import { Boards } from './boards.js';
import { BoundedWebSocket } from './bounded-web-socket.js';
import { type Checked, CheckMessagePipe } from './check-message.pipe.js';
import { ErrorReplyFilter } from './error-reply.filter.js';
import type { Message } from './message.js';
import { UNKNOWN } from './message-routing.js';

@WebSocketGateway({
  path: '/ws',
  maxPayload: 64 * 1024,
  perMessageDeflate: false,
  // One message per connection and turn of the event loop: otherwise a flood from one client would delay the rest.
  allowSynchronousEvents: false,
  // How long a client may take to answer a close frame. SIGTERM has to end the process within 5 s.
  closeTimeout: 3000,
  WebSocket: BoundedWebSocket,
})
@UseFilters(ErrorReplyFilter)
export class WhiteboardGateway implements OnGatewayDisconnect<WebSocket> {
  constructor(private readonly boards: Boards) {}

  @SubscribeMessage('join')
  join(@MessageBody(CheckMessagePipe) { message }: Checked, @ConnectedSocket() client: WebSocket): object {
    const { boardId, userId } = message;
    this.boards.join(boardId, client);
    return { type: 'joined', boardId, userId };
  }

  @SubscribeMessage('draw')
  draw(@MessageBody(CheckMessagePipe) { message, text }: Checked, @ConnectedSocket() client: WebSocket): void {
    this.requireMember(message, client);
    this.boards.broadcast(message.boardId, text);
  }

  @SubscribeMessage('leave')
  leave(@MessageBody(CheckMessagePipe) { message }: Checked, @ConnectedSocket() client: WebSocket): void {
    this.requireMember(message, client);
    this.boards.leave(message.boardId, client);
  }

  /** Never runs, because the pipe refuses these messages. Nest would silently drop a message without a handler. */
  @SubscribeMessage(UNKNOWN)
  unknown(@MessageBody(CheckMessagePipe) _: Checked): void {}

  handleDisconnect(client: WebSocket): void {
    this.boards.leaveAll(client);
  }

  private requireMember({ type, boardId }: Message, client: WebSocket): void {
    if (!this.boards.has(boardId, client)) throw new WsException(`${type}: this connection has not joined the board`);
  }
}
