package pushbench.location;

import org.springframework.web.socket.CloseStatus;
import org.springframework.web.socket.PongMessage;
import org.springframework.web.socket.WebSocketHandler;
import org.springframework.web.socket.WebSocketMessage;
import org.springframework.web.socket.WebSocketSession;
import org.springframework.web.socket.handler.WebSocketHandlerDecorator;

/**
 * Limits the size of a client's messages, and how much may be queued for it. It receives messages
 * in parts and passes them on complete: to receive complete messages, each session would need a
 * buffer as large as the limit.
 */
class ClientHandler extends WebSocketHandlerDecorator {
  static final int MAX_MESSAGE_BYTES = 64 * 1024;

  private static final String CLIENT = ClientHandler.class.getName();

  private record Client(QueueingSession session, Parts parts) {}

  private final OpenSessions sessions;

  ClientHandler(WebSocketHandler delegate, OpenSessions sessions) {
    super(delegate);
    this.sessions = sessions;
  }

  @Override
  public boolean supportsPartialMessages() {
    return true;
  }

  @Override
  public void afterConnectionEstablished(WebSocketSession session) throws Exception {
    var queueing = new QueueingSession(session);
    session.getAttributes().put(CLIENT, new Client(queueing, new Parts(MAX_MESSAGE_BYTES)));
    sessions.add(queueing);
    super.afterConnectionEstablished(queueing);
  }

  @Override
  public void handleMessage(WebSocketSession session, WebSocketMessage<?> message)
      throws Exception {
    if (message instanceof PongMessage) {
      return;
    }
    Client client = clientOf(session);
    var whole = client.parts().add(message);
    if (whole.isPresent()) {
      super.handleMessage(client.session(), whole.get());
    } else if (client.parts().isTooLarge()) {
      client.session().close(CloseStatus.TOO_BIG_TO_PROCESS);
    }
  }

  @Override
  public void handleTransportError(WebSocketSession session, Throwable failure) throws Exception {
    super.handleTransportError(clientOf(session).session(), failure);
  }

  @Override
  public void afterConnectionClosed(WebSocketSession session, CloseStatus status) throws Exception {
    QueueingSession queueing = clientOf(session).session();
    sessions.remove(queueing);
    super.afterConnectionClosed(queueing, status);
  }

  private static Client clientOf(WebSocketSession session) {
    return (Client) session.getAttributes().get(CLIENT);
  }
}
