package pushbench.location;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import org.springframework.http.HttpStatus;

/** The newest positions of a group, and its listeners. */
class Group {
  private static final int MAX_USERS = 64;
  private static final long FORGET_AFTER = Duration.ofSeconds(60).toNanos();

  private record Versioned(long version, Position position) {}

  /** By user, in the order of the versions. */
  private final LinkedHashMap<String, Versioned> newest = new LinkedHashMap<>();

  /** Each with its user. */
  private final Map<Listener, String> listeners = new LinkedHashMap<>();

  private long version;
  private long lastPut;

  /**
   * Accepts a position, and sends it to the other users.
   *
   * @param now in nanoseconds
   */
  synchronized News put(Position position, long now) {
    if (newest.size() == MAX_USERS && !newest.containsKey(position.user())) {
      throw new RefusedException(
          HttpStatus.CONFLICT, "a group has at most " + MAX_USERS + " users");
    }
    version++;
    lastPut = now;
    newest.putLast(position.user(), new Versioned(version, position));
    var news = new News(version, List.of(position));
    listeners.forEach(
        (listener, user) -> {
          if (!user.equals(position.user())) {
            listener.tell(news);
          }
        });
    return news;
  }

  /**
   * Returns the newest position of each other user whose version is above {@code since}. A {@code
   * since} above the current version dates from before the group was removed, and does not count.
   */
  synchronized News newsFor(String user, OptionalLong since) {
    long known = since.orElse(0) > version ? 0 : since.orElse(0);
    List<Position> positions =
        newest.values().stream()
            .filter(entry -> entry.version() > known && !entry.position().user().equals(user))
            .map(Versioned::position)
            .toList();
    return new News(version, positions);
  }

  /** Sends the listener the current news, then each position of another user. */
  synchronized void listen(String user, OptionalLong since, Listener listener) {
    listener.tell(newsFor(user, since));
    listeners.put(listener, user);
  }

  synchronized void leave(Listener listener) {
    listeners.remove(listener);
  }

  /**
   * Returns whether the group is no longer needed.
   *
   * @param now in nanoseconds
   */
  synchronized boolean isOver(long now) {
    return listeners.isEmpty() && (version == 0 || now - lastPut >= FORGET_AFTER);
  }
}
