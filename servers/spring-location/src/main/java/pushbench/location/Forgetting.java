package pushbench.location;

import java.util.concurrent.TimeUnit;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.messaging.simp.SimpMessageHeaderAccessor;
import org.springframework.messaging.simp.SimpMessageType;
import org.springframework.messaging.simp.broker.AbstractBrokerMessageHandler;
import org.springframework.messaging.simp.broker.SimpleBrokerMessageHandler;
import org.springframework.messaging.simp.broker.SubscriptionRegistry;
import org.springframework.messaging.support.MessageBuilder;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;

/** Removes groups that are over and have no subscription at the STOMP broker. */
@Component
@EnableScheduling
class Forgetting {
  private final Groups groups;
  private final SubscriptionRegistry subscriptions;

  Forgetting(
      Groups groups, @Qualifier("simpleBrokerMessageHandler") AbstractBrokerMessageHandler broker) {
    this.groups = groups;
    subscriptions = ((SimpleBrokerMessageHandler) broker).getSubscriptionRegistry();
  }

  @Scheduled(fixedRate = 1, timeUnit = TimeUnit.SECONDS)
  void forget() {
    groups.forget(this::hasSubscription);
  }

  private boolean hasSubscription(String group) {
    var headers = SimpMessageHeaderAccessor.create(SimpMessageType.MESSAGE);
    headers.setDestination(StompConfiguration.TOPIC + group);
    var message = MessageBuilder.createMessage(new byte[0], headers.getMessageHeaders());
    return !subscriptions.findSubscriptions(message).isEmpty();
  }
}
