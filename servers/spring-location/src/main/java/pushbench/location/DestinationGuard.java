package pushbench.location;

import java.util.regex.Pattern;
import org.springframework.context.annotation.Lazy;
import org.springframework.messaging.Message;
import org.springframework.messaging.MessageChannel;
import org.springframework.messaging.simp.SimpMessageHeaderAccessor;
import org.springframework.messaging.simp.SimpMessageSendingOperations;
import org.springframework.messaging.simp.SimpMessageType;
import org.springframework.messaging.support.ChannelInterceptor;
import org.springframework.messaging.support.MessageHeaderAccessor;
import org.springframework.stereotype.Component;

/**
 * Refuses the destinations that clients may not use. Otherwise they could send to a topic directly,
 * past the checks of {@link StompController}, or read the errors of others.
 */
@Component
class DestinationGuard implements ChannelInterceptor {
  private static final String GROUP = "group\\." + Ids.ID;
  private static final Pattern SEND = Pattern.compile("/app/" + GROUP + "(\\.join)?");
  private static final Pattern SUBSCRIBE =
      Pattern.compile("/topic/" + GROUP + "|/user/queue/errors");

  private final SimpMessageSendingOperations messaging;

  DestinationGuard(@Lazy SimpMessageSendingOperations messaging) {
    this.messaging = messaging;
  }

  @Override
  public Message<?> preSend(Message<?> message, MessageChannel channel) {
    var headers = MessageHeaderAccessor.getAccessor(message, SimpMessageHeaderAccessor.class);
    String destination = headers.getDestination();
    boolean allowed =
        switch (headers.getMessageType()) {
          case MESSAGE -> matches(SEND, destination);
          case SUBSCRIBE -> matches(SUBSCRIBE, destination);
          default -> true;
        };
    if (!allowed) {
      refuse(headers.getSessionId(), destination);
      return null;
    }
    return message;
  }

  private static boolean matches(Pattern pattern, String destination) {
    return destination != null && pattern.matcher(destination).matches();
  }

  private void refuse(String sessionId, String destination) {
    var headers = SimpMessageHeaderAccessor.create(SimpMessageType.MESSAGE);
    headers.setSessionId(sessionId);
    messaging.convertAndSendToUser(
        sessionId,
        "/queue/errors",
        new ErrorMessage("the destination " + destination + " is not for clients"),
        headers.getMessageHeaders());
  }
}
