// The members of each board; sends one text to all members of a board.

import { Injectable } from '@nestjs/common';
import type { WebSocket } from 'ws';

@Injectable()
export class Boards {
  readonly #members = new Map<string, Set<WebSocket>>(); // boardId -> clients
  readonly #joined = new Map<WebSocket, Set<string>>(); // client -> boardIds

  join(boardId: string, client: WebSocket): void {
    add(this.#members, boardId, client);
    add(this.#joined, client, boardId);
  }

  has(boardId: string, client: WebSocket): boolean {
    return this.#joined.get(client)?.has(boardId) ?? false;
  }

  leave(boardId: string, client: WebSocket): void {
    remove(this.#members, boardId, client);
    remove(this.#joined, client, boardId);
  }

  leaveAll(client: WebSocket): void {
    for (const boardId of this.#joined.get(client) ?? []) this.leave(boardId, client);
  }

  broadcast(boardId: string, text: string): void {
    const payload = Buffer.from(text); // encoded once for all
    for (const client of this.#members.get(boardId) ?? []) client.send(payload, { binary: false });
  }
}

function add<K, V>(sets: Map<K, Set<V>>, key: K, value: V): void {
  const set = sets.get(key);
  if (set) set.add(value);
  else sets.set(key, new Set([value]));
}

function remove<K, V>(sets: Map<K, Set<V>>, key: K, value: V): void {
  const set = sets.get(key);
  set?.delete(value);
  if (set?.size === 0) sets.delete(key);
}
