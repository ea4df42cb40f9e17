// The channels that this worker needs, and which of them Redis has confirmed.

export class Subscriptions {
  #link;
  #channels = new Map(); // channel -> {isWanted, isConfirmed}, from SUBSCRIBE until UNSUBSCRIBE

  /** `link` has subscribe(channels) and unsubscribe(channels), which have no effect while it is not connected. */
  constructor(link) {
    this.#link = link;
  }

  want(channel) {
    const subscription = this.#channels.get(channel);
    if (subscription) {
      subscription.isWanted = true;
    } else {
      this.#channels.set(channel, { isWanted: true, isConfirmed: false });
      this.#link.subscribe([channel]);
    }
  }

  unwant(channel) {
    const subscription = this.#channels.get(channel);
    subscription.isWanted = false;
    // Not before it is confirmed: that confirmation could be mistaken for one of a later SUBSCRIBE.
    if (subscription.isConfirmed) this.#drop(channel);
  }

  isConfirmed(channel) {
    return this.#channels.get(channel)?.isConfirmed ?? false;
  }

  /** Redis has confirmed a SUBSCRIBE. */
  confirm(channel) {
    const subscription = this.#channels.get(channel);
    if (!subscription) return;
    subscription.isConfirmed = true;
    if (!subscription.isWanted) this.#drop(channel);
  }

  /** The connection was lost, and the subscriptions with it. */
  lose() {
    for (const [channel, subscription] of this.#channels) {
      subscription.isConfirmed = false;
      if (!subscription.isWanted) this.#channels.delete(channel);
    }
  }

  /** There is a new connection. */
  restore() {
    if (this.#channels.size > 0) this.#link.subscribe([...this.#channels.keys()]);
  }

  #drop(channel) {
    this.#channels.delete(channel);
    this.#link.unsubscribe([channel]);
  }
}
