package pushbench.whiteboard;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Queue;
import org.springframework.web.socket.WebSocketMessage;
import org.springframework.web.socket.WebSocketSession;
import org.springframework.web.socket.handler.WebSocketSessionDecorator;

/**
 * A session to which any thread can send without waiting: messages are queued, and a virtual thread
 * sends them. Tomcat's own send waits for a client that reads slowly; with
 * ConcurrentWebSocketSessionDecorator the thread of another client would wait.
 */
class QueueingSession extends WebSocketSessionDecorator {
  /** A client that does not read is disconnected, because its queue would grow without bound. */
  private static final int MAX_QUEUED_BYTES = 1024 * 1024;

  /** A dozen draws. */
  private static final int SLOW_DOWN_BYTES = 4 * 1024;

  // All three are guarded by this. The first message of the queue is the one being sent.
  private final Queue<WebSocketMessage<?>> queue = new ArrayDeque<>();
  private int queuedBytes;
  private Thread sender;

  QueueingSession(WebSocketSession session) {
    super(session);
  }

  @Override
  public synchronized void sendMessage(WebSocketMessage<?> message) {
    if (queuedBytes > MAX_QUEUED_BYTES) {
      return;
    }
    queue.add(message);
    queuedBytes += message.getPayloadLength();
    if (sender == null) {
      sender = Thread.startVirtualThread(this::sendQueued);
    } else if (queuedBytes > MAX_QUEUED_BYTES) {
      // Tomcat closes the connection of a send that is interrupted.
      sender.interrupt();
    }
  }

  /**
   * Must be called after each message from this client. Otherwise a client that sends faster than
   * its messages can be forwarded would cause every client on its board to be disconnected. It
   * would also keep a core from all others, because virtual threads are not preempted.
   */
  void slowDown() throws InterruptedException {
    if (isBehind()) {
      Thread.sleep(1);
    }
  }

  private synchronized boolean isBehind() {
    return queuedBytes > SLOW_DOWN_BYTES;
  }

  private void sendQueued() {
    try {
      for (WebSocketMessage<?> message = first(); message != null; message = next()) {
        getDelegate().sendMessage(message);
      }
    } catch (IOException | IllegalStateException e) {
      // The connection has ended. There is no other sender, so nothing more is sent.
    }
  }

  private synchronized WebSocketMessage<?> first() {
    return queue.peek();
  }

  private synchronized WebSocketMessage<?> next() {
    queuedBytes -= queue.remove().getPayloadLength();
    if (queue.isEmpty()) {
      sender = null;
    }
    return queue.peek();
  }
}
