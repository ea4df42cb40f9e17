package pushbench.location;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.springframework.boot.tomcat.TomcatWebServer;
import org.springframework.boot.web.server.context.WebServerApplicationContext;
import org.springframework.context.SmartLifecycle;
import org.springframework.stereotype.Component;
import org.springframework.web.socket.CloseStatus;

/** Holds the open sessions, and closes them when the server stops. */
@Component
class OpenSessions implements SmartLifecycle {
  /**
   * How long clients may take to answer a close frame. SIGTERM has to end the process within 5 s.
   */
  private static final int CLOSE_TIMEOUT_MS = 2000;

  private final Set<QueueingSession> sessions = ConcurrentHashMap.newKeySet();
  private final WebServerApplicationContext context;
  private volatile boolean stopping;

  OpenSessions(WebServerApplicationContext context) {
    this.context = context;
  }

  void add(QueueingSession session) {
    sessions.add(session);
    if (stopping) {
      session.close(CloseStatus.GOING_AWAY);
    }
  }

  void remove(QueueingSession session) {
    sessions.remove(session);
  }

  int size() {
    return sessions.size();
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
    sessions.forEach(session -> session.close(CloseStatus.GOING_AWAY));
    var webServer = (TomcatWebServer) context.getWebServer();
    webServer
        .getTomcat()
        .getConnector()
        .getProtocolHandler()
        .awaitConnectionsClose(CLOSE_TIMEOUT_MS);
  }
}
