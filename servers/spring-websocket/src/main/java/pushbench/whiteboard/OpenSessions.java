package pushbench.whiteboard;

import java.io.IOException;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.springframework.boot.tomcat.TomcatWebServer;
import org.springframework.boot.web.server.context.WebServerApplicationContext;
import org.springframework.context.SmartLifecycle;
import org.springframework.stereotype.Component;
import org.springframework.web.socket.CloseStatus;
import org.springframework.web.socket.WebSocketSession;

/** Holds the open sessions, and closes them when the server stops. */
@Component
class OpenSessions implements SmartLifecycle {
  /**
   * How long clients may take to answer a close frame. SIGTERM has to end the process within 5 s.
   */
  private static final int CLOSE_TIMEOUT_MS = 3000;

  private final Set<WebSocketSession> sessions = ConcurrentHashMap.newKeySet();
  private final WebServerApplicationContext context;
  private volatile boolean stopping;

  OpenSessions(WebServerApplicationContext context) {
    this.context = context;
  }

  void add(WebSocketSession session) {
    sessions.add(session);
    if (stopping) {
      goAway(session);
    }
  }

  void remove(WebSocketSession session) {
    sessions.remove(session);
  }

  /** Runs after the web server has closed its port, before it cuts all connections. */
  @Override
  public int getPhase() {
    return WebServerApplicationContext.GRACEFUL_SHUTDOWN_PHASE - 1;
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
    // Each from its own thread: even a close frame waits for a client that reads slowly.
    sessions.forEach(session -> Thread.startVirtualThread(() -> goAway(session)));
    var webServer = (TomcatWebServer) context.getWebServer();
    webServer
        .getTomcat()
        .getConnector()
        .getProtocolHandler()
        .awaitConnectionsClose(CLOSE_TIMEOUT_MS);
  }

  private static void goAway(WebSocketSession session) {
    try {
      session.close(CloseStatus.GOING_AWAY);
    } catch (IOException e) {
      // It has already gone.
    }
  }
}
