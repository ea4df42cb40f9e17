package pushbench.location;

import java.util.OptionalLong;
import org.springframework.stereotype.Component;
import org.springframework.web.socket.BinaryMessage;
import org.springframework.web.socket.CloseStatus;
import org.springframework.web.socket.TextMessage;
import org.springframework.web.socket.WebSocketSession;
import org.springframework.web.socket.handler.TextWebSocketHandler;
import tools.jackson.databind.json.JsonMapper;

/** Receives positions from the members of groups, and sends them those of others. */
@Component
class GroupSocketHandler extends TextWebSocketHandler {
  /** The session attribute with the member, which the handshake sets. */
  static final String MEMBER = "member";

  private static final String LISTENER = "listener";

  private final Groups groups;
  private final JsonMapper mapper;

  GroupSocketHandler(Groups groups, JsonMapper mapper) {
    this.groups = groups;
    this.mapper = mapper;
  }

  @Override
  public void afterConnectionEstablished(WebSocketSession session) {
    var queueing = (QueueingSession) session;
    Listener listener = news -> send(queueing, news);
    session.getAttributes().put(LISTENER, listener);
    groups.listen(memberOf(session), OptionalLong.empty(), listener);
  }

  @Override
  public void afterConnectionClosed(WebSocketSession session, CloseStatus status) {
    groups.leave(memberOf(session), (Listener) session.getAttributes().get(LISTENER));
  }

  @Override
  protected void handleTextMessage(WebSocketSession session, TextMessage message) {
    Member member = memberOf(session);
    try {
      var json = Position.readObject(mapper, message.asBytes());
      groups.put(member.group(), Position.parse(member.user(), json));
    } catch (RefusedException e) {
      send((QueueingSession) session, new ErrorMessage(e.getMessage()));
    }
  }

  @Override
  protected void handleBinaryMessage(WebSocketSession session, BinaryMessage message) {
    send((QueueingSession) session, new ErrorMessage("a message must be a text frame"));
  }

  private void send(QueueingSession session, Object message) {
    session.sendMessage(new TextMessage(mapper.writeValueAsString(message)));
  }

  private static Member memberOf(WebSocketSession session) {
    return (Member) session.getAttributes().get(MEMBER);
  }
}
