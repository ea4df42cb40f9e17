import { type ArgumentsHost, Catch } from '@nestjs/common';
import { BaseWsExceptionFilter, WsException } from '@nestjs/websockets';
import type { WebSocket } from 'ws';

/** Answers a refused message in the form of the protocol. */
@Catch(WsException)
export class ErrorReplyFilter extends BaseWsExceptionFilter {
  override catch(refusal: WsException, host: ArgumentsHost): void {
    host
      .switchToWs()
      .getClient<WebSocket>()
      .send(JSON.stringify({ type: 'error', reason: refusal.message }));
  }
}
