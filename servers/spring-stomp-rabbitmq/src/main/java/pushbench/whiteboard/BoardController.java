package pushbench.whiteboard;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.Map;
import org.springframework.messaging.Message;
import org.springframework.messaging.MessageDeliveryException;
import org.springframework.messaging.MessageHeaders;
import org.springframework.messaging.handler.annotation.DestinationVariable;
import org.springframework.messaging.handler.annotation.Header;
import org.springframework.messaging.handler.annotation.MessageExceptionHandler;
import org.springframework.messaging.handler.annotation.MessageMapping;
import org.springframework.messaging.simp.SimpMessageHeaderAccessor;
import org.springframework.messaging.simp.SimpMessageSendingOperations;
import org.springframework.messaging.simp.annotation.SendToUser;
import org.springframework.messaging.support.GenericMessage;
import org.springframework.stereotype.Controller;
import org.springframework.util.MimeTypeUtils;
import tools.jackson.databind.json.JsonMapper;

/** Checks each message to a board and broadcasts it unchanged. */
@Controller
class BoardController {
  private static final Map<String, Object> HEADERS =
      Map.of(MessageHeaders.CONTENT_TYPE, MimeTypeUtils.APPLICATION_JSON);

  private final SimpMessageSendingOperations messaging;
  private final Subscriptions subscriptions;
  private final JsonMapper mapper;

  BoardController(
      SimpMessageSendingOperations messaging, Subscriptions subscriptions, JsonMapper mapper) {
    this.messaging = messaging;
    this.subscriptions = subscriptions;
    this.mapper = mapper;
  }

  @MessageMapping("/board.{boardId}")
  void broadcast(
      @DestinationVariable String boardId,
      @Header(SimpMessageHeaderAccessor.SESSION_ID_HEADER) String session,
      Message<byte[]> message)
      throws BadMessageException {
    byte[] body = message.getPayload();
    if (!BoardMessage.parse(mapper, new String(body, UTF_8)).boardId().equals(boardId)) {
      throw new BadMessageException("boardId must be that of the destination");
    }
    String topic = "/topic/board." + boardId;
    if (!subscriptions.contain(session, topic)) {
      throw new BadMessageException("this session is not subscribed to " + topic);
    }
    messaging.send(topic, new GenericMessage<>(body, HEADERS));
  }

  @MessageExceptionHandler
  @SendToUser(destinations = DestinationGuard.BROKER_ERRORS, broadcast = false)
  ErrorMessage refuse(BadMessageException e) {
    return new ErrorMessage(e.getMessage());
  }

  /** The broker is unavailable. The relay ends the session, whose client has to reconnect. */
  @MessageExceptionHandler
  void drop(MessageDeliveryException e) {}
}
