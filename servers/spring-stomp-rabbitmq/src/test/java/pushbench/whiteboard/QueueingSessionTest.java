package pushbench.whiteboard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.Mockito.doAnswer;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.timeout;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.when;

import jakarta.websocket.RemoteEndpoint;
import jakarta.websocket.SendHandler;
import jakarta.websocket.SendResult;
import jakarta.websocket.Session;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.web.socket.TextMessage;
import org.springframework.web.socket.adapter.standard.StandardWebSocketSession;
import org.springframework.web.socket.handler.SessionLimitExceededException;

class QueueingSessionTest {
  private final Session nativeSession = mock();
  private final List<String> sent = new ArrayList<>();

  /** The handler of the send in progress; null if the client reads everything at once. */
  private SendHandler progress;

  private boolean clientReads = true;
  private QueueingSession session;

  @BeforeEach
  void open() {
    RemoteEndpoint.Async remote = mock();
    when(nativeSession.getAsyncRemote()).thenReturn(remote);
    doAnswer(
            call -> {
              sent.add(call.getArgument(0));
              progress = call.getArgument(1);
              if (clientReads) {
                progress.onResult(new SendResult(nativeSession));
              }
              return null;
            })
        .when(remote)
        .sendText(any(), any(SendHandler.class));
    var standard = new StandardWebSocketSession(null, null, null, null);
    standard.initializeNativeSession(nativeSession);
    session = new QueueingSession(standard);
  }

  @Test
  void sendsInOrderOneAtATime() {
    clientReads = false;
    List.of("1", "2", "3").forEach(this::send);
    assertThat(sent).containsExactly("1");
    clientReads = true;
    progress.onResult(new SendResult(nativeSession));
    assertThat(sent).containsExactly("1", "2", "3");
  }

  @Test
  void forgetsWhatWasSent() {
    for (int i = 0; i < 100; i++) {
      send("x".repeat(64 * 1024));
    }
    assertThat(sent).hasSize(100);
  }

  @Test
  void sendsALongQueueWithoutRecursion() {
    clientReads = false;
    for (int i = 0; i < 100_000; i++) {
      send("x");
    }
    clientReads = true;
    progress.onResult(new SendResult(nativeSession));
    assertThat(sent).hasSize(100_000);
  }

  @Test
  void endsWhenMoreThanOneMebibyteIsQueued() {
    clientReads = false;
    send("x".repeat(1024 * 1024));
    assertThatThrownBy(() -> send("x")).isInstanceOf(SessionLimitExceededException.class);
  }

  @Test
  void endsAfterAFailure() throws IOException {
    clientReads = false;
    send("1");
    send("2");
    progress.onResult(new SendResult(nativeSession, new IOException("Connection reset by peer")));
    assertThat(sent).containsExactly("1");
    verify(nativeSession, timeout(5000)).close(any());
  }

  private void send(String text) {
    session.sendMessage(new TextMessage(text));
  }
}
