package pushbench.tokenstream;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.springframework.boot.web.server.context.WebServerApplicationContext;
import org.springframework.context.SmartLifecycle;
import org.springframework.stereotype.Component;

/** Holds the streams in progress, and ends them when the server stops. */
@Component
class Streams implements SmartLifecycle {
  private final Set<TokenStream> streams = ConcurrentHashMap.newKeySet();
  private volatile boolean stopping;

  void add(TokenStream stream) {
    streams.add(stream);
    stream.onOver(() -> streams.remove(stream));
    if (stopping) {
      stream.end();
    }
  }

  int active() {
    return streams.size();
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
    streams.forEach(TokenStream::end);
  }
}
