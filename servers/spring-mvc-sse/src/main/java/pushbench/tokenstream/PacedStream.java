package pushbench.tokenstream;

import java.time.Duration;

/**
 * The writes of a stream at the ticks of a regular schedule: characters, and comments between two
 * characters that are far apart.
 */
class PacedStream implements Runnable {
  /**
   * A server detects that a client has left when it writes for the second time after that, and has
   * to stop the stream within 1 s. See "Disconnects" in the reference of asynchronous requests:
   * https://docs.spring.io/spring-framework/reference/web/webmvc/mvc-ann-async.html
   */
  private static final int MIN_WRITES_PER_SECOND = 3;

  private final TokenStream stream;
  private final int ticksPerCharacter;
  private final Duration period;
  private long tick;

  PacedStream(TokenStream stream, int pace) {
    this.stream = stream;
    ticksPerCharacter = Math.ceilDiv(MIN_WRITES_PER_SECOND, pace);
    period = Duration.ofSeconds(1).dividedBy((long) pace * ticksPerCharacter);
  }

  /** The time from one tick to the next. */
  Duration period() {
    return period;
  }

  /** Writes what is due at the next tick. */
  @Override
  public void run() {
    if (tick++ % ticksPerCharacter == 0) {
      stream.sendNext();
    } else {
      stream.sendComment();
    }
  }
}
