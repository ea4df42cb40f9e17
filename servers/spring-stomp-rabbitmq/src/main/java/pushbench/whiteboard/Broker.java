package pushbench.whiteboard;

import java.net.URI;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.context.event.EventListener;
import org.springframework.messaging.simp.broker.BrokerAvailabilityEvent;
import org.springframework.stereotype.Component;

/** The address of the broker, and whether the relay is connected to it. */
@Component
class Broker {
  final String host;
  final int port;
  final String login;
  final String passcode;
  private volatile boolean available;

  Broker(@Value("${broker.url}") URI url) {
    host = url.getHost();
    port = url.getPort();
    String[] user = url.getUserInfo().split(":", 2);
    login = user[0];
    passcode = user[1];
  }

  @EventListener
  void change(BrokerAvailabilityEvent event) {
    available = event.isBrokerAvailable();
  }

  boolean isAvailable() {
    return available;
  }
}
