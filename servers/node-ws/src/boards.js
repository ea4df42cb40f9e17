// The members of each board; sends one frame to all members of a board.

export class Boards {
  #members = new Map(); // boardId -> Set of clients
  #joined = new Map(); // client -> Set of boardIds

  join(boardId, client) {
    add(this.#members, boardId, client);
    add(this.#joined, client, boardId);
  }

  has(boardId, client) {
    return this.#joined.get(client)?.has(boardId) ?? false;
  }

  leave(boardId, client) {
    remove(this.#members, boardId, client);
    remove(this.#joined, client, boardId);
  }

  leaveAll(client) {
    for (const boardId of this.#joined.get(client) ?? []) this.leave(boardId, client);
  }

  broadcast(boardId, frame) {
    for (const client of this.#members.get(boardId)) client.send(frame);
  }
}

function add(sets, key, value) {
  const set = sets.get(key);
  if (set) set.add(value);
  else sets.set(key, new Set([value]));
}

function remove(sets, key, value) {
  const set = sets.get(key);
  set.delete(value);
  if (set.size === 0) sets.delete(key);
}
