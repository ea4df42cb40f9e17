package pushbench.location;

import org.springframework.web.socket.CloseStatus;
import org.springframework.web.socket.WebSocketMessage;
import org.springframework.web.socket.WebSocketSession;
import org.springframework.web.socket.handler.WebSocketSessionDecorator;

/**
 * A session to which any thread can send without waiting. With ConcurrentWebSocketSessionDecorator
 * the thread of another client would wait for one that reads slowly.
 */
class QueueingSession extends WebSocketSessionDecorator {
  private final Outbox outbox;

  QueueingSession(WebSocketSession session) {
    super(session);
    outbox = new Outbox(() -> {}, () -> session.close(CloseStatus.SESSION_NOT_RELIABLE));
  }

  @Override
  public void sendMessage(WebSocketMessage<?> message) {
    outbox.add(message.getPayloadLength(), () -> getDelegate().sendMessage(message));
  }

  /** Closes the session after the queued messages. */
  @Override
  public void close(CloseStatus status) {
    outbox.add(0, () -> getDelegate().close(status));
  }
}
