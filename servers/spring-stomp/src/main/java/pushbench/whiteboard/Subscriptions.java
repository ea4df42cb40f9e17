package pushbench.whiteboard;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.springframework.context.annotation.Scope;
import org.springframework.context.annotation.ScopedProxyMode;
import org.springframework.stereotype.Component;

/** The destinations to which a session is subscribed. The broker does not report them. */
@Component
@Scope(scopeName = "websocket", proxyMode = ScopedProxyMode.TARGET_CLASS)
class Subscriptions {
  private final Map<String, String> destinations = new ConcurrentHashMap<>();

  void add(String id, String destination) {
    destinations.putIfAbsent(id, destination);
  }

  void remove(String id) {
    destinations.remove(id);
  }

  boolean contain(String destination) {
    return destinations.containsValue(destination);
  }
}
