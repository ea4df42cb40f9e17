package pushbench.location;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Queue;

/**
 * The queue of one client. Adding to it never waits: a virtual thread sends. Tomcat's own sends
 * wait for a client that reads slowly.
 */
class Outbox {
  interface Send {
    void run() throws IOException;
  }

  private record Item(int bytes, Send send) {}

  /** A client that does not read is disconnected, because its queue would grow without bound. */
  private static final int MAX_QUEUED_BYTES = 1024 * 1024;

  private final Runnable onOverflow;
  private final Send disconnect;

  // All four are guarded by this. The first item of the queue is the one being sent.
  private final Queue<Item> queue = new ArrayDeque<>();
  private int queuedBytes;
  private Thread sender;
  private boolean closed;

  /**
   * @param onOverflow is called as soon as too much is queued
   * @param disconnect ends the connection after that, once the current send has ended
   */
  Outbox(Runnable onOverflow, Send disconnect) {
    this.onOverflow = onOverflow;
    this.disconnect = disconnect;
  }

  synchronized void add(int bytes, Send send) {
    if (closed) {
      return;
    }
    queue.add(new Item(bytes, send));
    queuedBytes += bytes;
    if (sender == null) {
      sender = Thread.startVirtualThread(this::sendQueued);
    } else if (queuedBytes > MAX_QUEUED_BYTES) {
      close();
      // Tomcat closes the WebSocket of a send that is interrupted. A write of a response continues
      // to wait, and fails after the connection's timeout.
      sender.interrupt();
      Thread.startVirtualThread(onOverflow);
    }
  }

  synchronized boolean isEmpty() {
    return queue.isEmpty();
  }

  private void sendQueued() {
    try {
      for (Item item = first(); item != null; item = next()) {
        item.send().run();
      }
      if (isClosed()) {
        disconnect.run();
      }
    } catch (IOException | RuntimeException e) {
      // The connection has ended, which leaves Tomcat in an undefined state.
      close();
    }
  }

  private synchronized void close() {
    closed = true;
    queue.clear();
  }

  private synchronized boolean isClosed() {
    return closed;
  }

  private synchronized Item first() {
    return queue.peek();
  }

  private synchronized Item next() {
    Item sent = queue.poll();
    if (sent == null) {
      return null;
    }
    queuedBytes -= sent.bytes();
    if (queue.isEmpty()) {
      sender = null;
    }
    return queue.peek();
  }
}
