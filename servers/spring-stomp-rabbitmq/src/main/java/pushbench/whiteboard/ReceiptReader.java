package pushbench.whiteboard;

import org.springframework.messaging.Message;
import org.springframework.messaging.MessageChannel;
import org.springframework.messaging.simp.SimpMessageHeaderAccessor;
import org.springframework.messaging.simp.stomp.StompCommand;
import org.springframework.messaging.simp.stomp.StompHeaderAccessor;
import org.springframework.messaging.support.ChannelInterceptor;
import org.springframework.messaging.support.MessageHeaderAccessor;
import org.springframework.stereotype.Component;

/**
 * Consumes the receipts that {@link DestinationGuard} requested, and adds the address of errors. It
 * also drops line ends: RabbitMQ sends one after each frame, which counts as a heart-beat if it
 * arrives alone.
 */
@Component
class ReceiptReader implements ChannelInterceptor {
  private final Subscriptions subscriptions;

  ReceiptReader(Subscriptions subscriptions) {
    this.subscriptions = subscriptions;
  }

  @Override
  public Message<?> preSend(Message<?> message, MessageChannel channel) {
    var headers = MessageHeaderAccessor.getAccessor(message, StompHeaderAccessor.class);
    if (headers == null) {
      return message;
    }
    if (headers.isHeartbeat()) {
      return null;
    }
    if (headers.getCommand() == StompCommand.RECEIPT
        && subscriptions.confirm(headers.getSessionId(), headers.getReceiptId())) {
      return null;
    }
    if (headers.containsNativeHeader(SimpMessageHeaderAccessor.ORIGINAL_DESTINATION)) {
      headers.setNativeHeader(
          SimpMessageHeaderAccessor.ORIGINAL_DESTINATION, DestinationGuard.ERRORS);
    }
    return message;
  }
}
