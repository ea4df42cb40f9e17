// The newest position of each user of each group; sends it to listeners.

import { Refused } from './position.js';

const MAX_USERS = 64;

// How long a group without listeners is kept, and how often the server looks for such groups.
const KEPT_MS = 60_000;
const SWEEP_MS = 10_000;

export class Groups {
  #byName = new Map();
  #sweeping = setInterval(() => this.sweep(performance.now()), SWEEP_MS).unref();

  get(name) {
    let group = this.#byName.get(name);
    if (!group) {
      group = new Group();
      this.#byName.set(name, group);
    }
    return group;
  }

  count() {
    let listeners = 0;
    for (const group of this.#byName.values()) listeners += group.listeners;
    return { groups: this.#byName.size, listeners };
  }

  /** Removes groups that have been unused for long enough. */
  sweep(now) {
    for (const [name, group] of this.#byName) {
      if (group.listeners === 0 && now - group.usedAt > KEPT_MS) this.#byName.delete(name);
    }
  }

  stop() {
    clearInterval(this.#sweeping);
  }
}

class Group {
  usedAt = performance.now();
  #version = 0;
  #newest = new Map(); // user -> { version, position }
  #listeners = new Map(); // function that receives news -> user

  get listeners() {
    return this.#listeners.size;
  }

  /**
   * Stores a position, which is JSON with its user, and sends it to the others.
   *
   * @throws {Refused} when the group has no room for another user
   */
  put(user, position) {
    if (!this.#newest.has(user) && this.#newest.size === MAX_USERS) {
      throw new Refused(`the group has ${MAX_USERS} users`, 409);
    }
    this.#version++;
    this.usedAt = performance.now();
    this.#newest.set(user, { version: this.#version, position });
    let news;
    for (const [tell, listening] of this.#listeners) {
      if (listening === user) continue;
      news ??= new News(this.#version, [position]);
      tell(news);
    }
  }

  /**
   * Returns the newest positions of the others after a version; all of them for a version that the group has not
   * reached.
   */
  since(user, version = 0) {
    const known = version > this.#version ? 0 : version;
    const positions = [];
    for (const [other, entry] of this.#newest) {
      if (other !== user && entry.version > known) positions.push(entry.position);
    }
    return new News(this.#version, positions);
  }

  listen(user, tell) {
    this.#listeners.set(tell, user);
  }

  leave(tell) {
    this.#listeners.delete(tell);
    this.usedAt = performance.now();
  }
}

/** Contains positions, each JSON with its user. It is made once for all recipients. */
class News {
  constructor(version, positions) {
    this.version = version;
    this.body = `{"version":${version},"positions":[${positions.join()}]}`;
  }

  /** As a server-sent event. */
  get event() {
    this.#event ??= Buffer.from(`id: ${this.version}\ndata: ${this.body}\n\n`);
    return this.#event;
  }

  #event;
}
