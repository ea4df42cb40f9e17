package pushbench.whiteboard;

import jakarta.websocket.Session;
import org.apache.tomcat.websocket.Constants;
import org.springframework.web.socket.CloseStatus;
import org.springframework.web.socket.WebSocketHandler;
import org.springframework.web.socket.WebSocketMessage;
import org.springframework.web.socket.WebSocketSession;
import org.springframework.web.socket.adapter.NativeWebSocketSession;
import org.springframework.web.socket.handler.WebSocketHandlerDecorator;

/** Limits the size of what a client sends, and what may be queued for it. */
class ClientHandler extends WebSocketHandlerDecorator {
  static final int MAX_MESSAGE_BYTES = 64 * 1024;

  ClientHandler(WebSocketHandler delegate) {
    super(delegate);
  }

  @Override
  public void afterConnectionEstablished(WebSocketSession session) throws Exception {
    super.afterConnectionEstablished(new QueueingSession(session));
  }

  @Override
  public void handleMessage(WebSocketSession session, WebSocketMessage<?> message)
      throws Exception {
    // Tomcat counts characters, of which one can be three bytes.
    if (message.getPayloadLength() > MAX_MESSAGE_BYTES) {
      session.close(CloseStatus.TOO_BIG_TO_PROCESS);
    } else {
      super.handleMessage(session, message);
    }
  }

  /**
   * Tomcat now closes the session of a client that has gone. By default its thread first waits 50
   * ms until the message before is sent, which another one of its threads has to note. When many
   * clients went at once, all these threads would wait for each other.
   */
  @Override
  public void handleTransportError(WebSocketSession session, Throwable error) throws Exception {
    ((NativeWebSocketSession) session)
        .getNativeSession(Session.class)
        .getUserProperties()
        .put(Constants.ABNORMAL_SESSION_CLOSE_SEND_TIMEOUT_PROPERTY, 0L);
    super.handleTransportError(session, error);
  }
}
