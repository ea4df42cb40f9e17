// The members of each board among this worker's clients; sends one frame to all members of a board.

export class Boards {
  #members = new Map(); // boardId -> Set of clients
  #joined = new Map(); // client -> Set of boardIds

  /** Adds the client; returns whether it is the first on the board. */
  join(boardId, client) {
    add(this.#joined, client, boardId);
    return add(this.#members, boardId, client);
  }

  has(boardId, client) {
    return this.#joined.get(client)?.has(boardId) ?? false;
  }

  /** Removes the client; returns whether it was the last on the board. */
  leave(boardId, client) {
    remove(this.#joined, client, boardId);
    return remove(this.#members, boardId, client);
  }

  isEmpty(boardId) {
    return !this.#members.has(boardId);
  }

  members(boardId) {
    return this.#members.get(boardId) ?? [];
  }

  clients() {
    return this.#joined.keys();
  }

  joinedBy(client) {
    return this.#joined.get(client) ?? [];
  }

  broadcast(boardId, frame) {
    for (const client of this.members(boardId)) client.send(frame);
  }
}

function add(sets, key, value) {
  const set = sets.get(key);
  if (set) set.add(value);
  else sets.set(key, new Set([value]));
  return !set;
}

function remove(sets, key, value) {
  const set = sets.get(key);
  set.delete(value);
  return set.size === 0 && sets.delete(key);
}
