// Clients that are not read while Redis is behind with their and others' messages. TCP makes them wait.

export class HeldBack {
  #clients = new Set();

  add(client) {
    client.pause();
    this.#clients.add(client);
  }

  release() {
    for (const client of this.#clients) client.resume();
    this.#clients.clear();
  }
}
