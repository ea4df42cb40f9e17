package pushbench.whiteboard;

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
 * past the checks of {@link BoardController}, or read the errors of others.
 */
@Component
class DestinationGuard implements ChannelInterceptor {
  // The broker treats a destination with a wildcard as a pattern: a subscription to every board.
  private static final String BOARD = "/board\\.[^/*?{}]+";
  private static final Pattern SEND = Pattern.compile("/app" + BOARD);
  private static final Pattern SUBSCRIBE =
      Pattern.compile("/topic" + BOARD + "|/user/queue/errors");

  private final SimpMessageSendingOperations messaging;
  private final Subscriptions subscriptions;

  DestinationGuard(@Lazy SimpMessageSendingOperations messaging, Subscriptions subscriptions) {
    this.messaging = messaging;
    this.subscriptions = subscriptions;
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
    switch (headers.getMessageType()) {
      case SUBSCRIBE -> subscriptions.add(headers.getSubscriptionId(), destination);
      case UNSUBSCRIBE -> subscriptions.remove(headers.getSubscriptionId());
      default -> {}
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
