package pushbench.whiteboard;

import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.springframework.stereotype.Component;
import org.springframework.web.socket.TextMessage;

/** Who is on which board, and sending one message to everybody there. */
@Component
class Boards {
  private final Map<String, Set<QueueingSession>> members = new ConcurrentHashMap<>();
  private final Map<QueueingSession, Set<String>> joined = new ConcurrentHashMap<>();

  void join(String boardId, QueueingSession client) {
    add(members, boardId, client);
    add(joined, client, boardId);
    // It may have been closed meanwhile, by a failed send.
    if (!client.isOpen()) {
      leaveAll(client);
    }
  }

  boolean has(String boardId, QueueingSession client) {
    return joined.getOrDefault(client, Set.of()).contains(boardId);
  }

  void leave(String boardId, QueueingSession client) {
    remove(members, boardId, client);
    remove(joined, client, boardId);
  }

  void leaveAll(QueueingSession client) {
    joined.getOrDefault(client, Set.of()).forEach(boardId -> leave(boardId, client));
  }

  void broadcast(String boardId, TextMessage message) {
    members.getOrDefault(boardId, Set.of()).forEach(client -> client.sendMessage(message));
  }

  private static <K, V> void add(Map<K, Set<V>> sets, K key, V value) {
    sets.compute(
        key,
        (k, set) -> {
          Set<V> values = set == null ? ConcurrentHashMap.newKeySet() : set;
          values.add(value);
          return values;
        });
  }

  private static <K, V> void remove(Map<K, Set<V>> sets, K key, V value) {
    sets.computeIfPresent(
        key,
        (k, values) -> {
          values.remove(value);
          return values.isEmpty() ? null : values;
        });
  }
}
