package pushbench.whiteboard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.never;
import static org.mockito.Mockito.verify;

import org.junit.jupiter.api.Test;
import org.springframework.web.socket.TextMessage;

class BoardsTest {
  private static final TextMessage MESSAGE = new TextMessage("stroke");

  private final Boards boards = new Boards();

  @Test
  void sendsOnceToEachMemberOfTheBoard() {
    QueueingSession member = enter();
    QueueingSession other = enter();
    boards.join("b", member);
    boards.join("b", member);
    boards.join("c", other);
    boards.broadcast("b", MESSAGE);
    verify(member).sendMessage(MESSAGE);
    verify(other, never()).sendMessage(MESSAGE);
  }

  @Test
  void forgetsAClientThatLeavesOrExits() {
    QueueingSession leaver = enter();
    QueueingSession exiter = enter();
    boards.join("b", leaver);
    boards.join("b", exiter);
    boards.leave("b", leaver);
    boards.exit(exiter);
    boards.broadcast("b", MESSAGE);
    verify(leaver, never()).sendMessage(MESSAGE);
    verify(exiter, never()).sendMessage(MESSAGE);
  }

  @Test
  void letsNoClientJoinThatHasExited() {
    QueueingSession client = enter();
    boards.exit(client);
    boards.join("b", client);
    assertThat(boards.has("b", client)).isFalse();
  }

  private QueueingSession enter() {
    QueueingSession client = mock();
    boards.enter(client);
    return client;
  }
}
