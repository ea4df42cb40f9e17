package pushbench.whiteboard;

import java.io.IOException;
import org.springframework.stereotype.Component;
import org.springframework.web.socket.BinaryMessage;
import org.springframework.web.socket.CloseStatus;
import org.springframework.web.socket.TextMessage;
import org.springframework.web.socket.WebSocketMessage;
import org.springframework.web.socket.WebSocketSession;
import org.springframework.web.socket.handler.TextWebSocketHandler;
import tools.jackson.databind.json.JsonMapper;

/** Turns the messages of clients into joins, draws and leaves. */
@Component
class WhiteboardHandler extends TextWebSocketHandler {
  static final int MAX_MESSAGE_BYTES = 64 * 1024;

  /** The session attribute with the {@link QueueingSession} that sends to a client. */
  private static final String CLIENT = "client";

  private record Joined(String type, String boardId, String userId) {}

  private record Refusal(String type, String reason) {}

  private final Boards boards;
  private final OpenSessions openSessions;
  private final JsonMapper mapper;

  WhiteboardHandler(Boards boards, OpenSessions openSessions, JsonMapper mapper) {
    this.boards = boards;
    this.openSessions = openSessions;
    this.mapper = mapper;
  }

  @Override
  public void afterConnectionEstablished(WebSocketSession session) {
    var client = new QueueingSession(session);
    session.getAttributes().put(CLIENT, client);
    boards.enter(client);
    openSessions.add(session);
  }

  @Override
  public void afterConnectionClosed(WebSocketSession session, CloseStatus status) {
    boards.exit(clientOf(session));
    openSessions.remove(session);
  }

  @Override
  public void handleMessage(WebSocketSession session, WebSocketMessage<?> message)
      throws Exception {
    super.handleMessage(session, message);
    clientOf(session).slowDown();
  }

  @Override
  protected void handleTextMessage(WebSocketSession session, TextMessage message)
      throws IOException {
    // Tomcat counts characters, of which one can be three bytes.
    if (message.getPayloadLength() > MAX_MESSAGE_BYTES) {
      session.close(CloseStatus.TOO_BIG_TO_PROCESS);
      return;
    }
    QueueingSession client = clientOf(session);
    try {
      handle(BoardMessage.parse(mapper, message.getPayload()), message, client);
    } catch (BadMessageException e) {
      refuse(client, e.getMessage());
    }
  }

  @Override
  protected void handleBinaryMessage(WebSocketSession session, BinaryMessage message) {
    refuse(clientOf(session), "a message must be a text frame");
  }

  private void handle(BoardMessage message, TextMessage text, QueueingSession client)
      throws BadMessageException {
    String boardId = message.boardId();
    if (message.type() == BoardMessage.Type.JOIN) {
      boards.join(boardId, client);
      reply(client, new Joined("joined", boardId, message.userId()));
      return;
    }
    if (!boards.has(boardId, client)) {
      throw new BadMessageException("this connection has not joined the board");
    }
    if (message.type() == BoardMessage.Type.DRAW) {
      boards.broadcast(boardId, text);
    } else {
      boards.leave(boardId, client);
    }
  }

  private void refuse(QueueingSession client, String reason) {
    reply(client, new Refusal("error", reason));
  }

  private void reply(QueueingSession client, Object message) {
    client.sendMessage(new TextMessage(mapper.writeValueAsString(message)));
  }

  private static QueueingSession clientOf(WebSocketSession session) {
    return (QueueingSession) session.getAttributes().get(CLIENT);
  }
}
