// Parses the stream of a Redis connection that only receives Pub/Sub, wherever its chunks end.
//
// It is a sequence of RESP3 pushes: [message, channel, payload] or [subscribe or unsubscribe, channel, count].

const PUSH = '>'.charCodeAt(0);
const BULK = '$'.charCodeAt(0);
const NUMBER = ':'.charCodeAt(0);
const CR = '\r'.charCodeAt(0);
const ZERO = '0'.charCodeAt(0);

const LINE_END = 2;

const NOTHING = Buffer.alloc(0);

export class PushReader {
  #bytes = NOTHING;
  #at = 0;

  /**
   * Returns the pushes that end in this chunk, as {kind, channel, payload}. Payloads may be views of the chunk.
   *
   * @throws {Error} when it contains anything but pushes, such as an error
   */
  read(chunk) {
    this.#bytes = this.#bytes.length > 0 ? Buffer.concat([this.#bytes, chunk]) : chunk;
    this.#at = 0;
    const pushes = [];
    let end = 0;
    for (let push = this.#push(); push; push = this.#push()) {
      pushes.push(push);
      end = this.#at;
    }
    // A copy, because the chunk's memory belongs to its owner.
    this.#bytes = end < this.#bytes.length ? Buffer.from(this.#bytes.subarray(end)) : NOTHING;
    return pushes;
  }

  // These return undefined, or NaN for a number, when the chunk ends before the value does.

  #push() {
    if (Number.isNaN(this.#line(PUSH))) return undefined;
    const kind = this.#bulk()?.toString();
    const channel = kind && this.#bulk()?.toString();
    if (!channel) return undefined;
    if (kind === 'message') {
      const payload = this.#bulk();
      return payload && { kind, channel, payload };
    }
    return Number.isNaN(this.#line(NUMBER)) ? undefined : { kind, channel };
  }

  #bulk() {
    const length = this.#line(BULK);
    const start = this.#at;
    const end = start + length;
    if (!(end + LINE_END <= this.#bytes.length)) return undefined;
    this.#at = end + LINE_END;
    return this.#bytes.subarray(start, end);
  }

  #line(type) {
    const bytes = this.#bytes;
    const start = this.#at;
    if (start < bytes.length && bytes[start] !== type) {
      throw new Error(`Redis sent ${JSON.stringify(bytes.toString('latin1', start, start + 100))}`);
    }
    let number = 0;
    for (let at = start + 1; at < bytes.length - 1; at++) {
      if (bytes[at] === CR) {
        this.#at = at + LINE_END;
        return number;
      }
      number = number * 10 + bytes[at] - ZERO;
    }
    return Number.NaN;
  }
}
