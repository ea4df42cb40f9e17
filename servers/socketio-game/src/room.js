// One room, from its first seat to the end of its game. It does not depend on connections or other rooms.

import { Refused } from './message.js';
import { TEXT } from './text.js';

const SEATS = 6;

// How long a seat is kept for a player who has not joined, and a room that is empty.
const SEAT_MS = 10_000;

// How long a room waits for further players once it has one, and all of them for the start.
const GATHERING_MS = 2000;
const COUNTDOWN_MS = 1000;

// How long a game may take.
const GAME_MS = 300_000;

export class Room {
  phase = 'waiting'; // then 'countdown', 'playing' and 'over'
  players = new Map(); // userId -> Player, of players in the room
  #tell;
  #closed;
  #text;
  #seats = new Map(); // userId -> until when the seat is kept, of players who have not joined
  #places = []; // userIds, as they finish
  #timer;

  /**
   * @param tell sends an event and its message to all players
   * @param closed is called with the room when it accepts no further players, and when it is over
   */
  constructor(id, characters, tell, closed) {
    this.id = id;
    this.characters = characters;
    this.#tell = tell;
    this.#closed = closed;
    this.#text = TEXT.slice(0, characters);
    this.#after(SEAT_MS, this.#forget);
  }

  /** Keeps a seat for a user. Returns whether there was one. */
  keepSeat(userId) {
    if (this.players.has(userId) || !this.#hasSeat(userId)) return false;
    this.#seats.set(userId, performance.now() + SEAT_MS);
    if (this.players.size === 0) this.#after(SEAT_MS, this.#forget);
    return true;
  }

  /**
   * Returns the text that the new player types. Further players may make the room full: see `startIfFull`.
   *
   * @throws {Refused} if the room has no place for the user
   */
  join(userId) {
    if (this.phase !== 'waiting') throw new Refused('the room takes no further players');
    if (this.players.has(userId)) throw new Refused('the user is in the room');
    if (!this.#hasSeat(userId)) throw new Refused('the room is full');
    this.#seats.delete(userId);
    this.players.set(userId, new Player());
    if (this.players.size === 1) this.#after(GATHERING_MS, this.#countDown);
    return this.#text;
  }

  startIfFull() {
    if (this.phase === 'waiting' && this.players.size === SEATS) this.#countDown();
  }

  /** @throws {Refused} if the player may not type that now */
  type(userId, { seq, sentAt, keys }) {
    const player = this.players.get(userId);
    if (this.phase !== 'playing') throw new Refused('the game has not started');
    if (player.typed === this.characters) throw new Refused('the player has finished');
    if (seq <= player.seq) throw new Refused('seq must be greater than the one before');
    player.seq = seq;
    player.type(keys, this.#text);
    const { typed, mistakes } = player;
    this.#tell('pvp:state', { roomId: this.id, userId, seq, sentAt, typed, mistakes });
    if (typed === this.characters) {
      this.#places.push(userId);
      this.#endIfAllFinished();
    }
  }

  leave(userId) {
    this.players.delete(userId);
    if (this.players.size > 0) {
      if (this.phase === 'playing') this.#endIfAllFinished();
    } else if (this.phase === 'waiting') {
      this.#after(SEAT_MS, this.#forget);
    } else {
      this.#forget();
    }
  }

  #hasSeat(userId) {
    const now = performance.now();
    for (const [user, until] of this.#seats) {
      if (until <= now) this.#seats.delete(user);
    }
    return this.#seats.has(userId) || this.#seats.size + this.players.size < SEATS;
  }

  #countDown() {
    this.phase = 'countdown';
    this.#closed(this);
    this.#tell('pvp:countdown', { roomId: this.id, milliseconds: COUNTDOWN_MS, players: [...this.players.keys()] });
    this.#after(COUNTDOWN_MS, this.#start);
  }

  #start() {
    this.phase = 'playing';
    this.#tell('pvp:start', { roomId: this.id });
    this.#after(GAME_MS, this.#end);
  }

  #endIfAllFinished() {
    for (const { typed } of this.players.values()) if (typed < this.characters) return;
    this.#end();
  }

  #end() {
    this.#tell('pvp:over', { roomId: this.id, places: this.#places });
    this.#forget();
  }

  #forget() {
    clearTimeout(this.#timer);
    this.phase = 'over';
    this.#closed(this);
  }

  /** A room waits for one thing at a time. The timer does not keep the process running. */
  #after(milliseconds, step) {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => step.call(this), milliseconds).unref();
  }
}

class Player {
  typed = 0;
  mistakes = 0;
  seq = -1;

  /** A right key advances, and a wrong one is a mistake. Nothing is typed beyond the end of the text. */
  type(keys, text) {
    for (const key of keys) {
      if (this.typed === text.length) return;
      if (key === text[this.typed]) this.typed++;
      else this.mistakes++;
    }
  }
}
