package pushbench.tokenstream;

import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.autoconfigure.condition.ConditionalOnThreading;
import org.springframework.boot.thread.Threading;
import org.springframework.scheduling.TaskScheduler;
import org.springframework.stereotype.Component;

/** Paces all streams with the few threads of a scheduler. */
@Component
@ConditionalOnThreading(Threading.PLATFORM)
class ScheduledPacer implements Pacer {
  private final TaskScheduler scheduler;

  ScheduledPacer(@Qualifier("taskScheduler") TaskScheduler scheduler) {
    this.scheduler = scheduler;
  }

  /** At a fixed rate, so that a late character does not delay those after it. */
  @Override
  public void start(TokenStream stream, int pace) {
    var paced = new PacedStream(stream, pace);
    var ticks = scheduler.scheduleAtFixedRate(paced, paced.period());
    stream.onOver(() -> ticks.cancel(false));
  }
}
