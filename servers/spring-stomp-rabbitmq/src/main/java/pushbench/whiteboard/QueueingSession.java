package pushbench.whiteboard;

import jakarta.websocket.RemoteEndpoint;
import jakarta.websocket.Session;
import java.io.IOException;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.tomcat.websocket.Constants;
import org.springframework.web.socket.CloseStatus;
import org.springframework.web.socket.TextMessage;
import org.springframework.web.socket.WebSocketMessage;
import org.springframework.web.socket.WebSocketSession;
import org.springframework.web.socket.adapter.NativeWebSocketSession;
import org.springframework.web.socket.handler.SessionLimitExceededException;
import org.springframework.web.socket.handler.WebSocketSessionDecorator;

/**
 * A session to which any thread can send without waiting. Spring's own sends wait in Tomcat for a
 * client that reads slowly. Here Tomcat sends asynchronously, one message after the other. Messages
 * that have to wait are queued, and the session ends when the queue is too large.
 */
class QueueingSession extends WebSocketSessionDecorator {
  private static final int MAX_QUEUED_BYTES = 1024 * 1024;

  /**
   * How long Tomcat waits for a close frame that reports an error. For a normal close it is 20 s.
   */
  private static final long CLOSE_TIMEOUT_MS = 50;

  private final RemoteEndpoint.Async remote;
  private final Queue<TextMessage> queue = new ConcurrentLinkedQueue<>();

  /** The bytes of the messages in the queue and of the one being sent. */
  private final AtomicInteger queuedBytes = new AtomicInteger();

  /** Calls of sendNext that are not yet handled. */
  private final AtomicInteger calls = new AtomicInteger();

  private volatile boolean sending;

  QueueingSession(WebSocketSession session) {
    super(session);
    Session tomcat = ((NativeWebSocketSession) session).getNativeSession(Session.class);
    // Only close frames are sent with blocking sends: each waits until the previous message is
    // sent.
    tomcat.getUserProperties().put(Constants.BLOCKING_SEND_TIMEOUT_PROPERTY, CLOSE_TIMEOUT_MS);
    remote = tomcat.getAsyncRemote();
  }

  @Override
  public void sendMessage(WebSocketMessage<?> message) {
    if (queuedBytes.addAndGet(message.getPayloadLength()) > MAX_QUEUED_BYTES) {
      throw new SessionLimitExceededException(
          "more than " + MAX_QUEUED_BYTES + " bytes are queued", CloseStatus.SESSION_NOT_RELIABLE);
    }
    queue.add((TextMessage) message);
    sendNext();
  }

  /** The first caller also handles concurrent calls, so that nothing is sent twice or nested. */
  private void sendNext() {
    if (calls.getAndIncrement() > 0) {
      return;
    }
    do {
      TextMessage message = sending ? null : queue.poll();
      if (message != null) {
        sending = true;
        send(message);
      }
    } while (calls.decrementAndGet() > 0);
  }

  private void send(TextMessage message) {
    try {
      remote.sendText(
          message.getPayload(),
          result -> {
            if (result.isOK()) {
              queuedBytes.addAndGet(-message.getPayloadLength());
              sending = false;
              sendNext();
            } else {
              // After a reset Tomcat closes the socket, but not the session.
              close(CloseStatus.SESSION_NOT_RELIABLE);
            }
          });
    } catch (RuntimeException e) {
      // Another thread is closing the session, which leaves Tomcat in an undefined state.
      close(CloseStatus.SESSION_NOT_RELIABLE);
    }
  }

  /** Waits in a thread of its own: even a close frame waits for a client that reads slowly. */
  @Override
  public void close(CloseStatus status) {
    Thread.startVirtualThread(
        () -> {
          try {
            getDelegate().close(status);
          } catch (IOException e) {
            // The client has already gone.
          }
        });
  }
}
