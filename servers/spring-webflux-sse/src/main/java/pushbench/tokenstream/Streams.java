package pushbench.tokenstream;

import java.util.concurrent.atomic.AtomicInteger;
import org.springframework.boot.web.server.context.WebServerApplicationContext;
import org.springframework.context.SmartLifecycle;
import org.springframework.stereotype.Component;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/** Counts the streams in progress, and ends them when the server stops. */
@Component
class Streams implements SmartLifecycle {
  private final AtomicInteger active = new AtomicInteger();
  private final Sinks.Empty<Void> stop = Sinks.empty();
  private volatile boolean stopping;

  /** Counts the stream, and ends it when the other publisher or the server ends. */
  <T> Flux<T> track(Flux<T> stream, Mono<Void> end) {
    return stream
        .takeUntilOther(Mono.firstWithSignal(end, stop.asMono()))
        .doOnSubscribe(subscription -> active.incrementAndGet())
        .doFinally(signal -> active.decrementAndGet());
  }

  int active() {
    return active.get();
  }

  /** Runs before the web server closes its port and waits for requests to end. */
  @Override
  public int getPhase() {
    return WebServerApplicationContext.GRACEFUL_SHUTDOWN_PHASE + 1;
  }

  @Override
  public void start() {}

  @Override
  public boolean isRunning() {
    return !stopping;
  }

  @Override
  public void stop() {
    stopping = true;
    stop.tryEmitEmpty();
  }
}
