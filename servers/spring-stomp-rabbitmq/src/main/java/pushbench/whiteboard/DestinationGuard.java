package pushbench.whiteboard;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import org.springframework.context.annotation.Lazy;
import org.springframework.messaging.Message;
import org.springframework.messaging.MessageChannel;
import org.springframework.messaging.simp.SimpMessageHeaderAccessor;
import org.springframework.messaging.simp.SimpMessageSendingOperations;
import org.springframework.messaging.simp.SimpMessageType;
import org.springframework.messaging.simp.stomp.StompHeaderAccessor;
import org.springframework.messaging.support.ChannelInterceptor;
import org.springframework.messaging.support.MessageHeaderAccessor;
import org.springframework.stereotype.Component;

/**
 * Passes the frames that clients may send to the broker. Otherwise they could send to a topic
 * directly, past the checks of {@link BoardController}, read the errors of others, or make the
 * broker keep messages for them.
 */
@Component
class DestinationGuard implements ChannelInterceptor {
  /** As the contract defines it. */
  static final String ERRORS = "/user/queue/errors";

  /**
   * RabbitMQ deletes a queue of this destination with its subscription. Queues of /queue would
   * outlive their sessions.
   */
  static final String BROKER_ERRORS = "/exchange/amq.direct/errors";

  // The broker treats * and # as words of patterns, / and %2A as their escapes.
  private static final String BOARD = "/board\\.[^/*#%?{}]+";
  private static final Pattern SEND = Pattern.compile("/app" + BOARD);
  private static final Pattern SUBSCRIBE = Pattern.compile("/topic(" + BOARD + ")");

  /** The limit of AMQP, in bytes. */
  private static final int MAX_ROUTING_KEY = 255;

  private static final Set<String> KEPT = Set.of("id", "destination", "receipt");

  private final SimpMessageSendingOperations messaging;
  private final Subscriptions subscriptions;

  DestinationGuard(@Lazy SimpMessageSendingOperations messaging, Subscriptions subscriptions) {
    this.messaging = messaging;
    this.subscriptions = subscriptions;
  }

  @Override
  public Message<?> preSend(Message<?> message, MessageChannel channel) {
    var headers = MessageHeaderAccessor.getAccessor(message, StompHeaderAccessor.class);
    boolean passes =
        switch (headers.getMessageType()) {
          case CONNECT -> connects(headers);
          case SUBSCRIBE -> subscribes(headers);
          case UNSUBSCRIBE -> unsubscribes(headers);
          case MESSAGE -> sends(headers);
          case DISCONNECT -> disconnects(headers);
          case HEARTBEAT -> true;
          default -> false;
        };
    return passes ? message : null;
  }

  private boolean connects(StompHeaderAccessor headers) {
    headers.setHeartbeat(0, 0);
    subscriptions.begin(headers.getSessionId());
    return true;
  }

  private boolean subscribes(StompHeaderAccessor headers) {
    String destination = headers.getDestination();
    String id = headers.getSubscriptionId();
    if (id == null || destination == null || !isForClients(destination)) {
      return refuse(headers);
    }
    keepOnlyKnown(headers);
    headers.setReceipt(id);
    if (destination.equals(ERRORS)) {
      headers.setDestination("/user" + BROKER_ERRORS);
    }
    subscriptions.add(headers.getSessionId(), id, destination);
    return true;
  }

  private static boolean isForClients(String destination) {
    var board = SUBSCRIBE.matcher(destination);
    return board.matches()
        ? board.group(1).getBytes(UTF_8).length <= MAX_ROUTING_KEY
        : destination.equals(ERRORS);
  }

  private boolean unsubscribes(StompHeaderAccessor headers) {
    if (headers.getSubscriptionId() == null) {
      return refuse(headers);
    }
    keepOnlyKnown(headers);
    headers.removeNativeHeader("destination");
    subscriptions.remove(headers.getSessionId(), headers.getSubscriptionId());
    return true;
  }

  private boolean sends(StompHeaderAccessor headers) {
    String destination = headers.getDestination();
    if (destination == null || !SEND.matcher(destination).matches()) {
      return refuse(headers);
    }
    subscriptions.await(headers.getSessionId());
    return true;
  }

  private boolean disconnects(StompHeaderAccessor headers) {
    subscriptions.forget(headers.getSessionId());
    return true;
  }

  /** Other headers would change how RabbitMQ handles a subscription: a durable queue, acks. */
  private static void keepOnlyKnown(StompHeaderAccessor headers) {
    List.copyOf(headers.toNativeHeaderMap().keySet()).stream()
        .filter(name -> !KEPT.contains(name))
        .forEach(headers::removeNativeHeader);
  }

  private boolean refuse(StompHeaderAccessor refused) {
    String session = refused.getSessionId();
    subscriptions.await(session);
    var headers = SimpMessageHeaderAccessor.create(SimpMessageType.MESSAGE);
    headers.setSessionId(session);
    messaging.convertAndSendToUser(
        session,
        BROKER_ERRORS,
        new ErrorMessage("the destination " + refused.getDestination() + " is not for clients"),
        headers.getMessageHeaders());
    return false;
  }
}
