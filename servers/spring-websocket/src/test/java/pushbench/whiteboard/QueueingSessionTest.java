package pushbench.whiteboard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.Mockito.doAnswer;
import static org.mockito.Mockito.mock;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Semaphore;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.web.socket.TextMessage;
import org.springframework.web.socket.WebSocketSession;

class QueueingSessionTest {
  private static final TextMessage QUARTER_MEBIBYTE = new TextMessage("x".repeat(256 * 1024));

  /** What the client reads: each send waits for a permit, as Tomcat's does for the socket. */
  private final Semaphore reads = new Semaphore(0);

  private final List<TextMessage> sent = new CopyOnWriteArrayList<>();
  private final List<Exception> failures = new CopyOnWriteArrayList<>();
  private QueueingSession session;

  @BeforeEach
  void openSession() throws IOException {
    WebSocketSession tomcat = mock();
    doAnswer(send -> sendWhenRead(send.getArgument(0))).when(tomcat).sendMessage(any());
    session = new QueueingSession(tomcat);
  }

  @Test
  void keepsTheOrderAndMakesNobodyWait() {
    List<TextMessage> messages = List.of(text("1"), text("2"), text("3"));
    messages.forEach(session::sendMessage);
    assertThat(sent).isEmpty();
    reads.release(3);
    await().untilAsserted(() -> assertThat(sent).isEqualTo(messages));
  }

  @Test
  void sendsAgainAfterAPause() {
    reads.release(2);
    session.sendMessage(text("1"));
    await().untilAsserted(() -> assertThat(sent).hasSize(1));
    session.sendMessage(text("2"));
    await().untilAsserted(() -> assertThat(sent).hasSize(2));
  }

  @Test
  void queuesOneMebibyteForAClientThatDoesNotRead() {
    for (int i = 0; i < 4; i++) {
      session.sendMessage(QUARTER_MEBIBYTE);
    }
    reads.release(4);
    await().untilAsserted(() -> assertThat(sent).hasSize(4));
    assertThat(failures).isEmpty();
  }

  @Test
  void interruptsTheSendWhenMoreIsQueuedAndSendsNothingAfterwards() {
    for (int i = 0; i < 4; i++) {
      session.sendMessage(QUARTER_MEBIBYTE);
    }
    session.sendMessage(text("one too many"));
    await().untilAsserted(() -> assertThat(failures).hasSize(1));
    reads.release(9);
    session.sendMessage(text("too late"));
    assertThat(sent).isEmpty();
  }

  private Void sendWhenRead(TextMessage message) throws IOException {
    try {
      reads.acquire();
      sent.add(message);
      return null;
    } catch (InterruptedException e) {
      failures.add(e);
      throw new IOException(e);
    }
  }

  private static TextMessage text(String payload) {
    return new TextMessage(payload);
  }
}
