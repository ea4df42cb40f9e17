import { Injectable, type PipeTransform } from '@nestjs/common';
import { WsException } from '@nestjs/websockets';
import { BadMessage, checkMessage, type Message } from './message.js';
import type { Received } from './message-routing.js';

export type Checked = { message: Message; text: string };

/** Passes only messages that comply with the protocol to a handler. */
@Injectable()
export class CheckMessagePipe implements PipeTransform<Received, Checked> {
  transform({ message, text }: Received): Checked {
    try {
      return { message: checkMessage(message), text };
    } catch (error) {
      throw error instanceof BadMessage ? new WsException(error.message) : error;
    }
  }
}
