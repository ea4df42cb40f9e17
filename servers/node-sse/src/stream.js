// One response: sends each character as an event when it is due.

import { CHARACTERS } from './text.js';

const HEADERS = { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-cache' };

export class Stream {
  #response;
  #first;
  #next;
  #pace;
  #startedAt;
  #timer;

  constructor(response, { first, pace }) {
    this.#response = response;
    this.#first = first;
    this.#next = first;
    this.#pace = pace;
  }

  /** Nothing waits for the client to read: the whole text is smaller than what a socket may have queued. */
  start() {
    this.#response.writeHead(200, HEADERS);
    this.#startedAt = performance.now();
    if (this.#next === CHARACTERS.length) this.end();
    else if (this.#pace === undefined) this.#sendRest();
    else this.#sendDue();
  }

  /** Ends the response, whether or not every character was sent. */
  end() {
    this.stop();
    this.#response.end();
  }

  /** Sends nothing more. */
  stop() {
    clearTimeout(this.#timer);
  }

  #sendRest() {
    while (this.#next < CHARACTERS.length) this.#send();
    this.end();
  }

  /** Sends the character for which its timer was set, and those that have become due meanwhile. */
  #sendDue = () => {
    do this.#send();
    while (this.#next < CHARACTERS.length && this.#untilNext() <= 0);
    if (this.#next === CHARACTERS.length) this.end();
    else this.#timer = setTimeout(this.#sendDue, Math.ceil(this.#untilNext()));
  };

  /** Counts from the start, so that a late event does not delay those after it. */
  #untilNext() {
    return this.#startedAt + ((this.#next - this.#first) * 1000) / this.#pace - performance.now();
  }

  #send() {
    this.#response.write(`id: ${this.#next}\ndata: ${CHARACTERS[this.#next]}\n\n`);
    this.#next++;
  }
}
