package pushbench.location;

import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.stereotype.Component;

/**
 * The groups that are not removed. Every change of a group happens within an update of its entry,
 * which is atomic. So no group is changed that is removed at the same time.
 */
@Component
class Groups {
  private final Map<String, Group> groups = new ConcurrentHashMap<>();
  private final LongSupplier clock;

  @Autowired
  Groups() {
    this(System::nanoTime);
  }

  Groups(LongSupplier clock) {
    this.clock = clock;
  }

  /** Accepts a position, and returns it as the news that the other users receive. */
  News put(String id, Position position) {
    News news = withGroup(id, group -> group.put(position, clock.getAsLong()));
    // Virtual threads are not preempted: a client that puts without pause would keep a core from
    // the threads that send its positions.
    Thread.yield();
    return news;
  }

  News newsFor(Member member, OptionalLong since) {
    Group group = groups.get(member.group());
    return group == null ? new News(0, List.of()) : group.newsFor(member.user(), since);
  }

  /**
   * Sends the listener the current news, then each position of another user until the listener
   * leaves.
   */
  void listen(Member member, OptionalLong since, Listener listener) {
    withGroup(
        member.group(),
        group -> {
          group.listen(member.user(), since, listener);
          return null;
        });
  }

  void leave(Member member, Listener listener) {
    Group group = groups.get(member.group());
    if (group != null) {
      group.leave(listener);
    }
  }

  int size() {
    return groups.size();
  }

  /**
   * Removes the groups that are over.
   *
   * @param isKept returns whether the group with this id has to stay
   */
  void forget(Predicate<String> isKept) {
    long now = clock.getAsLong();
    for (String id : groups.keySet()) {
      groups.computeIfPresent(
          id, (key, group) -> group.isOver(now) && !isKept.test(id) ? null : group);
    }
  }

  private <T> T withGroup(String id, Function<Group, T> action) {
    var result = new AtomicReference<T>();
    groups.compute(
        id,
        (key, present) -> {
          Group group = present == null ? new Group() : present;
          result.set(action.apply(group));
          return group;
        });
    return result.get();
  }
}
