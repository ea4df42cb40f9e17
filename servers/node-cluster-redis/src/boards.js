// Who of this worker's clients is on which board, and sending one frame to everybody there.

export class Boards {
  #members = new Map(); // boardId -> Set of clients
  #joined = new Map(); // client -> Set of boardIds

  /** Whether the client is the first on the board. */
  join(boardId, client) {
    add(this.#joined, client, boardId);
    return add(this.#members, boardId, client);
  }

  has(boardId, client) {
    return this.#joined.get(client)?.has(boardId) ?? false;
  }

  /** Whether the client was the last on the board. */
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
