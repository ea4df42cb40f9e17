package pushbench.location;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.springframework.boot.web.server.context.WebServerApplicationContext;
import org.springframework.context.SmartLifecycle;
import org.springframework.stereotype.Component;

/** Holds the open polls and streams, and ends them when the server stops. */
@Component
class OpenResponses implements SmartLifecycle {
  interface OpenResponse {
    void end();
  }

  private final Set<OpenResponse> responses = ConcurrentHashMap.newKeySet();
  private volatile boolean stopping;

  void add(OpenResponse response) {
    responses.add(response);
    if (stopping) {
      response.end();
    }
  }

  void remove(OpenResponse response) {
    responses.remove(response);
  }

  int size() {
    return responses.size();
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
    responses.forEach(OpenResponse::end);
  }
}
