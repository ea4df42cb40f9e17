package pushbench.whiteboard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyMap;
import static org.mockito.ArgumentMatchers.eq;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.verify;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.messaging.Message;
import org.springframework.messaging.simp.SimpMessageSendingOperations;
import org.springframework.messaging.simp.stomp.StompCommand;
import org.springframework.messaging.simp.stomp.StompHeaderAccessor;
import org.springframework.messaging.support.MessageBuilder;

class DestinationGuardTest {
  private static final String SESSION = "session";

  private final SimpMessageSendingOperations messaging = mock();
  private final Subscriptions subscriptions = new Subscriptions();
  private final DestinationGuard guard = new DestinationGuard(messaging, subscriptions);
  private final ReceiptReader receipts = new ReceiptReader(subscriptions);

  @BeforeEach
  void connect() {
    assertThat(says(StompCommand.CONNECT, "heart-beat", "10000,10000").getHeartbeat())
        .containsExactly(0, 0);
  }

  @Test
  void asksForAReceiptAndLetsNothingElseThrough() {
    var passed =
        says(
            StompCommand.SUBSCRIBE,
            "id",
            "1",
            "destination",
            "/topic/board.7",
            "ack",
            "client",
            "durable",
            "true",
            "x-queue-name",
            "mine");
    assertThat(passed.toNativeHeaderMap()).containsOnlyKeys("id", "destination", "receipt");
    assertThat(passed.getReceipt()).isEqualTo("1");
  }

  @ParameterizedTest
  @ValueSource(strings = {"7", "a b", "gr\u00fc\u00df", "a.b.c"})
  void letsBoardsThrough(String board) {
    assertThat(subscribes("/topic/board." + board)).isTrue();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/topic/board.#",
        "/topic/board.*",
        "/topic/board.a.#",
        "/topic/board.%2A",
        "/topic/board.a/b",
        "/topic/board.",
        "/topic/other",
        "/queue/errors",
        "/exchange/amq.direct/errors",
        "/user/exchange/amq.direct/errors",
      })
  void refusesPatternsAndWhatIsNoBoard(String destination) {
    assertThat(subscribes(destination)).isFalse();
    verify(messaging)
        .convertAndSendToUser(
            eq(SESSION), eq(DestinationGuard.BROKER_ERRORS), any(ErrorMessage.class), anyMap());
  }

  @Test
  void refusesWhatIsTooLongForTheBroker() {
    String brush = "\uD83D\uDD8C";
    assertThat(subscribes("/topic/board." + brush.repeat(63))).isFalse();
    assertThat(subscribes("/topic/board." + brush.repeat(62))).isTrue();
  }

  @ParameterizedTest
  @EnumSource(names = {"ACK", "NACK", "BEGIN", "COMMIT", "ABORT"})
  void dropsWhatChangesOnlyTheBroker(StompCommand command) {
    assertThat(says(command, "id", "1", "transaction", "1")).isNull();
  }

  @Test
  void errorsComeFromAQueueThatEndsWithItsSubscription() {
    assertThat(says(StompCommand.SUBSCRIBE, "id", "e", "destination", "/user/queue/errors"))
        .extracting(StompHeaderAccessor::getDestination)
        .isEqualTo("/user/exchange/amq.direct/errors");
  }

  @Test
  void sendsWaitForTheReceipts() {
    subscribes("/topic/board.7");
    var sent =
        CompletableFuture.supplyAsync(
            () -> says(StompCommand.SEND, "destination", "/app/board.7") != null);
    assertThat(sent.completeOnTimeout(null, 100, TimeUnit.MILLISECONDS).join()).isNull();
    var receipt = StompHeaderAccessor.create(StompCommand.RECEIPT);
    receipt.setReceiptId("1");
    assertThat(receipts.preSend(message(receipt), null)).isNull();
    assertThat(says(StompCommand.SEND, "destination", "/app/board.7")).isNotNull();
    assertThat(receipts.preSend(message(receipt), null)).as("a receipt of the client").isNotNull();
  }

  @Test
  void lineEndsOfTheBrokerReachNobody() {
    assertThat(receipts.preSend(message(StompHeaderAccessor.createForHeartbeat()), null)).isNull();
  }

  @Test
  void theEndOfASessionIsNotWaitedFor() {
    subscribes("/topic/board.7");
    var waiting = CompletableFuture.runAsync(() -> subscriptions.await(SESSION));
    says(StompCommand.DISCONNECT);
    assertThat(waiting).succeedsWithin(Duration.ofSeconds(1));
    assertThat(subscriptions.contain(SESSION, "/topic/board.7")).isFalse();
  }

  private boolean subscribes(String destination) {
    return says(StompCommand.SUBSCRIBE, "id", "1", "destination", destination) != null;
  }

  /** Returns the part of a frame that passes; null if nothing does. */
  private StompHeaderAccessor says(StompCommand command, String... pairs) {
    var headers = StompHeaderAccessor.create(command);
    for (int at = 0; at < pairs.length; at += 2) {
      headers.setNativeHeader(pairs[at], pairs[at + 1]);
    }
    if (command == StompCommand.SUBSCRIBE || command == StompCommand.SEND) {
      headers.setDestination(headers.getFirstNativeHeader("destination"));
    }
    if (command == StompCommand.SUBSCRIBE) {
      headers.setSubscriptionId(headers.getFirstNativeHeader("id"));
    }
    return guard.preSend(message(headers), null) == null ? null : headers;
  }

  private static Message<byte[]> message(StompHeaderAccessor headers) {
    headers.setSessionId(SESSION);
    headers.setLeaveMutable(true);
    return MessageBuilder.createMessage(new byte[0], headers.getMessageHeaders());
  }
}
