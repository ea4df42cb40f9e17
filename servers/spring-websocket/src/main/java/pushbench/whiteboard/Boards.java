package pushbench.whiteboard;

import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.springframework.stereotype.Component;
import org.springframework.web.socket.TextMessage;

/**
 * The members of each board; sends one message to all members of a board. A client may exit on
 * another thread while it joins, because a send to it failed; an update of its entry in {@code
 * joined} is atomic, so that nothing of it stays behind.
 */
@Component
class Boards {
  private final Map<String, Set<QueueingSession>> members = new ConcurrentHashMap<>();
  private final Map<QueueingSession, Set<String>> joined = new ConcurrentHashMap<>();

  void enter(QueueingSession client) {
    joined.put(client, new HashSet<>());
  }

  void exit(QueueingSession client) {
    joined.computeIfPresent(
        client,
        (key, boardIds) -> {
          boardIds.forEach(boardId -> removeMember(boardId, client));
          return null;
        });
  }

  void join(String boardId, QueueingSession client) {
    joined.computeIfPresent(
        client,
        (key, boardIds) -> {
          boardIds.add(boardId);
          addMember(boardId, client);
          return boardIds;
        });
  }

  void leave(String boardId, QueueingSession client) {
    joined.computeIfPresent(
        client,
        (key, boardIds) -> {
          boardIds.remove(boardId);
          removeMember(boardId, client);
          return boardIds;
        });
  }

  boolean has(String boardId, QueueingSession client) {
    return membersOf(boardId).contains(client);
  }

  void broadcast(String boardId, TextMessage message) {
    membersOf(boardId).forEach(client -> client.sendMessage(message));
  }

  private Set<QueueingSession> membersOf(String boardId) {
    return members.getOrDefault(boardId, Set.of());
  }

  private void addMember(String boardId, QueueingSession client) {
    members.compute(
        boardId,
        (key, present) -> {
          Set<QueueingSession> clients = present == null ? ConcurrentHashMap.newKeySet() : present;
          clients.add(client);
          return clients;
        });
  }

  private void removeMember(String boardId, QueueingSession client) {
    members.computeIfPresent(
        boardId,
        (key, clients) -> {
          clients.remove(client);
          return clients.isEmpty() ? null : clients;
        });
  }
}
