package pushbench.whiteboard;

import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.springframework.stereotype.Component;

/** The subscriptions of each session, and whether the broker has confirmed them. */
@Component
class Subscriptions {
  private static final long RECEIPT_TIMEOUT_S = 5;

  private record Subscription(String destination, CompletableFuture<Void> receipt) {}

  private final Map<String, Map<String, Subscription>> sessions = new ConcurrentHashMap<>();

  void begin(String session) {
    sessions.putIfAbsent(session, new ConcurrentHashMap<>());
  }

  void add(String session, String id, String destination) {
    Map<String, Subscription> own = sessions.get(session);
    if (own != null) {
      own.putIfAbsent(id, new Subscription(destination, new CompletableFuture<>()));
    }
  }

  void remove(String session, String id) {
    Map<String, Subscription> own = sessions.get(session);
    Subscription removed = own == null ? null : own.remove(id);
    if (removed != null) {
      removed.receipt.complete(null);
    }
  }

  void forget(String session) {
    Map<String, Subscription> ended = sessions.remove(session);
    if (ended != null) {
      ended.values().forEach(subscription -> subscription.receipt.complete(null));
    }
  }

  /** Returns false if this receipt was not requested here. */
  boolean confirm(String session, String id) {
    Subscription subscription = of(session).get(id);
    return subscription != null && subscription.receipt.complete(null);
  }

  /**
   * Waits until the broker has all subscriptions of the session. Messages of the application use
   * another connection, and could be faster.
   */
  void await(String session) {
    CompletableFuture.allOf(
            of(session).values().stream()
                .map(Subscription::receipt)
                .toArray(CompletableFuture[]::new))
        .orTimeout(RECEIPT_TIMEOUT_S, TimeUnit.SECONDS)
        .join();
  }

  boolean contain(String session, String destination) {
    return of(session).values().stream().anyMatch(each -> each.destination.equals(destination));
  }

  private Map<String, Subscription> of(String session) {
    return sessions.getOrDefault(session, Map.of());
  }
}
