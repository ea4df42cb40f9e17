package pushbench.location;

import org.springframework.messaging.Message;
import org.springframework.messaging.handler.annotation.DestinationVariable;
import org.springframework.messaging.handler.annotation.MessageExceptionHandler;
import org.springframework.messaging.handler.annotation.MessageMapping;
import org.springframework.messaging.handler.annotation.SendTo;
import org.springframework.messaging.simp.annotation.SendToUser;
import org.springframework.stereotype.Controller;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Receives positions and joins that are sent to a group, and forwards them through the broker. */
@Controller
class StompController {
  private static final String APP_GROUP = "/group.{group:" + Ids.ID + "}";
  private static final String TOPIC_GROUP = StompConfiguration.TOPIC + "{group}";

  record Joined(String joined) {}

  private final Groups groups;
  private final JsonMapper mapper;

  StompController(Groups groups, JsonMapper mapper) {
    this.groups = groups;
    this.mapper = mapper;
  }

  @MessageMapping(APP_GROUP)
  @SendTo(TOPIC_GROUP)
  News put(@DestinationVariable String group, Message<byte[]> message) {
    JsonNode json = Position.readObject(mapper, message.getPayload());
    return groups.put(group, Position.parse(userOf(json), json));
  }

  @MessageMapping(APP_GROUP + ".join")
  @SendTo(TOPIC_GROUP)
  Joined join(Message<byte[]> message) {
    return new Joined(Ids.check("user", userOf(Position.readObject(mapper, message.getPayload()))));
  }

  @MessageExceptionHandler
  @SendToUser(destinations = "/queue/errors", broadcast = false)
  ErrorMessage refuse(RefusedException e) {
    return new ErrorMessage(e.getMessage());
  }

  /** Null unless it is a string. */
  private static String userOf(JsonNode json) {
    return json.path("user").stringValue(null);
  }
}
