// The application: its module, and the adapter with which its gateway listens.

import 'reflect-metadata';
import { type INestApplication, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Boards } from './boards.js';
import { HealthController } from './health.controller.js';
import { routeMessage } from './message-routing.js';
import { WhiteboardAdapter } from './whiteboard.adapter.js';
import { WhiteboardGateway } from './whiteboard.gateway.js';

@Module({ controllers: [HealthController], providers: [Boards, WhiteboardGateway] })
class AppModule {}

export async function createApp(): Promise<INestApplication> {
  const app = await NestFactory.create(AppModule, {
    logger: ['fatal', 'error', 'warn'],
    forceCloseConnections: true,
  });
  app.useWebSocketAdapter(new WhiteboardAdapter(app, { messageParser: routeMessage }));
  return app;
}
