package pushbench.whiteboard;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Queue;
import org.springframework.web.socket.WebSocketMessage;
import org.springframework.web.socket.WebSocketSession;
import org.springframework.web.socket.handler.WebSocketSessionDecorator;

/**
 * A session to which anybody can send without waiting: what is sent is queued, and a virtual thread
 * passes it on. Tomcat's send waits for a client that reads slowly, and
 * ConcurrentWebSocketSessionDecorator lets the first thread that comes do that waiting.
 */
class QueueingSession extends WebSocketSessionDecorator {
  private static final int MAX_QUEUED_BYTES = 1024 * 1024;

  /** A dozen draws. */
  private static final int SLOW_DOWN_BYTES = 4 * 1024;

  // Guarded by this. The first message is the one being sent.
  private final Queue<WebSocketMessage<?>> queue = new ArrayDeque<>();
  private int queuedBytes;

  /** Runs while there is something to send. */
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
      // Tomcat closes a connection when a send is interrupted.
      sender.interrupt();
    }
  }

  /**
   * To be called after each message from this client. One that says more than can be sent would
   * otherwise fill the queues of all members of its board, and keep the core of its own virtual
   * thread, which is never preempted, from them.
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
      // The connection has been closed, by the client or by Tomcat. Nothing will be sent any more.
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
