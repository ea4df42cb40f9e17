// How long the event loop delays what is due: by how much a timer of 10 ms is late.
//
// Both runtimes have `monitorEventLoopDelay`, but Node.js counts the period of its timer into the delay, and Bun does
// not. So this implementation serves both. On an idle loop it reports about 0.1 ms, with either runtime.

const PERIOD_MS = 10;
const WINDOW_MS = 1000;

export class EventLoopDelay {
  /** For the last complete window, in seconds; null before its end. */
  last = { p50: null, p99: null };
  #late = []; // milliseconds, in the current window
  #windowEnds = performance.now() + WINDOW_MS;
  #firedAt = performance.now();

  start() {
    setTimeout(() => this.#fired(performance.now()), PERIOD_MS).unref();
    return this;
  }

  #fired(now) {
    this.add(now - this.#firedAt - PERIOD_MS);
    this.#firedAt = now;
    if (now >= this.#windowEnds) {
      this.closeWindow();
      this.#windowEnds = now + WINDOW_MS;
    }
    this.start();
  }

  /** A loop that is blocked for long would have delayed each timer that was due meanwhile. */
  add(late) {
    this.#late.push(Math.max(0, late));
    for (let left = late - PERIOD_MS; left > 0; left -= PERIOD_MS) this.#late.push(left);
  }

  closeWindow() {
    const sorted = this.#late.sort((a, b) => a - b);
    const at = (share) => sorted[Math.ceil(share * sorted.length) - 1] / 1000;
    this.last = { p50: at(0.5), p99: at(0.99) };
    this.#late = [];
  }
}
