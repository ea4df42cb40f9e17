// The rooms, and the assignment of players to them.

import { randomUUID } from 'node:crypto';
import { Refused } from './message.js';
import { Room } from './room.js';

export class Lobby {
  #rooms = new Map(); // id -> Room
  #waiting = new Map(); // characters -> Set of rooms that accept players, the oldest first
  #telling;
  #emptied;

  /**
   * @param telling returns, for the id of a room, a function that sends an event and its message to the players
   * @param emptied is called with the id of a room that is over
   */
  constructor(telling, emptied) {
    this.#telling = telling;
    this.#emptied = emptied;
  }

  /** Returns the id of a room that has a seat for the user now. */
  match({ userId, characters }) {
    for (const room of this.#waiting.get(characters) ?? []) {
      if (room.keepSeat(userId)) return room.id;
    }
    const room = this.#open(characters);
    room.keepSeat(userId);
    return room.id;
  }

  /** @throws {Refused} if there is no such room */
  find(roomId) {
    const room = this.#rooms.get(roomId);
    if (!room) throw new Refused('there is no such room');
    return room;
  }

  count() {
    let players = 0;
    for (const room of this.#rooms.values()) players += room.players.size;
    return { rooms: this.#rooms.size, players };
  }

  #open(characters) {
    const id = randomUUID();
    const room = new Room(id, characters, this.#telling(id), (closed) => this.#close(closed));
    this.#rooms.set(id, room);
    if (!this.#waiting.has(characters)) this.#waiting.set(characters, new Set());
    this.#waiting.get(characters).add(room);
    return room;
  }

  #close(room) {
    this.#waiting.get(room.characters).delete(room);
    if (room.phase !== 'over') return;
    this.#rooms.delete(room.id);
    this.#emptied(room.id);
  }
}
