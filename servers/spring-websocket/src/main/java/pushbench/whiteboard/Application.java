package pushbench.whiteboard;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.web.server.context.WebServerInitializedEvent;
import org.springframework.context.event.EventListener;

@SpringBootApplication
public class Application {
  public static void main(String[] args) {
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
