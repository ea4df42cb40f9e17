package pushbench.tokenstream;

import java.time.Duration;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.autoconfigure.condition.ConditionalOnThreading;
import org.springframework.boot.thread.Threading;
import org.springframework.core.task.AsyncTaskExecutor;
import org.springframework.stereotype.Component;

/** Paces each stream on a virtual thread of its own, which sleeps between two writes. */
@Component
@ConditionalOnThreading(Threading.VIRTUAL)
class SleepingPacer implements Pacer {
  private final AsyncTaskExecutor executor;

  SleepingPacer(@Qualifier("applicationTaskExecutor") AsyncTaskExecutor executor) {
    this.executor = executor;
  }

  @Override
  public void start(TokenStream stream, int pace) {
    executor.execute(() -> send(stream, pace));
  }

  private static void send(TokenStream stream, int pace) {
    var paced = new PacedStream(stream, pace);
    // Counted from the start, so that a late character does not delay those after it.
    long due = System.nanoTime();
    while (!stream.isOver()) {
      paced.run();
      due += paced.period().toNanos();
      try {
        Thread.sleep(Duration.ofNanos(due - System.nanoTime()));
      } catch (InterruptedException e) {
        stream.end();
      }
    }
  }
}
