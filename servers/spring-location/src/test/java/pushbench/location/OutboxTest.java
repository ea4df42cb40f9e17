package pushbench.location;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class OutboxTest {
  private static final int QUARTER_MEBIBYTE = 256 * 1024;

  /** What the client reads: each send waits for a permit, as Tomcat's does for the socket. */
  private final Semaphore reads = new Semaphore(0);

  private final List<String> sent = new CopyOnWriteArrayList<>();
  private final AtomicInteger failures = new AtomicInteger();
  private final AtomicInteger disconnects = new AtomicInteger();
  private final AtomicInteger overflows = new AtomicInteger();
  private final Outbox outbox =
      new Outbox(overflows::incrementAndGet, disconnects::incrementAndGet);

  @Test
  void keepsTheOrderAndMakesNobodyWait() {
    List<String> texts = List.of("1", "2", "3");
    texts.forEach(text -> add(1, text));
    assertThat(sent).isEmpty();
    assertThat(outbox.isEmpty()).isFalse();
    reads.release(3);
    await().untilAsserted(() -> assertThat(sent).isEqualTo(texts));
  }

  @Test
  void sendsAgainAfterAPause() {
    reads.release(2);
    add(1, "1");
    await().until(outbox::isEmpty);
    add(1, "2");
    await().untilAsserted(() -> assertThat(sent).containsExactly("1", "2"));
  }

  @Test
  void queuesOneMebibyteForAClientThatDoesNotRead() {
    for (int i = 0; i < 4; i++) {
      add(QUARTER_MEBIBYTE, "quarter");
    }
    reads.release(4);
    await().untilAsserted(() -> assertThat(sent).hasSize(4));
    assertThat(failures).hasValue(0);
  }

  @Test
  void interruptsTheSendWhenMoreIsQueuedAndSendsNothingAfterwards() {
    add(QUARTER_MEBIBYTE, "quarter");
    await().until(reads::hasQueuedThreads);
    for (int i = 0; i < 3; i++) {
      add(QUARTER_MEBIBYTE, "quarter");
    }
    add(1, "one too many");
    await().untilAsserted(() -> assertThat(failures).hasValue(1));
    reads.release(9);
    add(1, "too late");
    assertThat(outbox.isEmpty()).isTrue();
    assertThat(sent).isEmpty();
  }

  @Test
  void disconnectsWhereAnInterruptDoesNotEndTheSend() {
    outbox.add(
        1,
        () -> {
          reads.acquireUninterruptibly();
          sent.add("first");
        });
    await().until(reads::hasQueuedThreads);
    add(4 * QUARTER_MEBIBYTE, "too many");
    await().untilAsserted(() -> assertThat(overflows).hasValue(1));
    assertThat(disconnects).hasValue(0);
    reads.release(9);
    await().untilAsserted(() -> assertThat(disconnects).hasValue(1));
    assertThat(sent).hasSize(1);
  }

  private void add(int bytes, String text) {
    outbox.add(
        bytes,
        () -> {
          try {
            reads.acquire();
            sent.add(text);
          } catch (InterruptedException e) {
            failures.incrementAndGet();
            throw new IOException(e);
          }
        });
  }
}
