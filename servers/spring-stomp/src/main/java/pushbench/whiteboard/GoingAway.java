package pushbench.whiteboard;

import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.tomcat.TomcatWebServer;
import org.springframework.boot.web.server.context.WebServerApplicationContext;
import org.springframework.context.SmartLifecycle;
import org.springframework.stereotype.Component;
import org.springframework.web.socket.WebSocketHandler;
import org.springframework.web.socket.messaging.SubProtocolWebSocketHandler;

/**
 * Closes all sessions with 1001 when the server stops. Spring would do so only after Tomcat has cut
 * the connections.
 */
@Component
class GoingAway implements SmartLifecycle {
  /** How long clients may take to answer. SIGTERM has to end the process within 5 s. */
  private static final int CLOSE_TIMEOUT_MS = 2000;

  private final SubProtocolWebSocketHandler handler;
  private final WebServerApplicationContext context;
  private volatile boolean running;

  GoingAway(
      @Qualifier("subProtocolWebSocketHandler") WebSocketHandler handler,
      WebServerApplicationContext context) {
    this.handler = (SubProtocolWebSocketHandler) handler;
    this.context = context;
  }

  /** Runs after the web server has closed its port, before it cuts all connections. */
  @Override
  public int getPhase() {
    return WebServerApplicationContext.GRACEFUL_SHUTDOWN_PHASE - 1;
  }

  @Override
  public void start() {
    running = true;
  }

  @Override
  public boolean isRunning() {
    return running;
  }

  @Override
  public void stop() {
    running = false;
    handler.stop();
    var webServer = (TomcatWebServer) context.getWebServer();
    webServer
        .getTomcat()
        .getConnector()
        .getProtocolHandler()
        .awaitConnectionsClose(CLOSE_TIMEOUT_MS);
  }
}
