package pushbench.posts;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.web.server.context.WebServerInitializedEvent;
import org.springframework.context.event.EventListener;
import reactor.netty.ReactorNetty;

@SpringBootApplication
public class Application {
  public static void main(String[] args) {
    // Reactor Netty would have at least four event loops.
    String cpus = String.valueOf(Runtime.getRuntime().availableProcessors());
    System.setProperty(ReactorNetty.IO_WORKER_COUNT, System.getenv().getOrDefault("WORKERS", cpus));
    // Reactor Netty 1.3.8 loses a request with "Connection: close" that arrives before the last
    // exchange has ended. The race exists wherever an answer is completed by another thread than
    // the connection's own, such as those of the database. With this property the arrival ends that
    // exchange. An answer that is complete while the connection is being read is then flushed at
    // the end of that read, at almost no cost. https://github.com/reactor/reactor-netty/pull/4347
    System.setProperty("reactor.netty.http.server.lastFlushWhenNoRead", "true");
    SpringApplication.run(Application.class, args);
  }

  /**
   * Without this handler the JVM would exit with 143 after SIGTERM. It runs last, when the
   * application has stopped.
   */
  @EventListener(WebServerInitializedEvent.class)
  void exitWithZero() {
    SpringApplication.getShutdownHandlers().add(() -> Runtime.getRuntime().halt(0));
  }
}
