// Clients that are not read while Redis is behind with what they and others said. TCP tells them to wait.

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
