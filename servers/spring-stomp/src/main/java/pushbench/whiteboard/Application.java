package pushbench.whiteboard;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;

/** Starts the server and makes SIGTERM end it with exit code 0. */
@SpringBootApplication
public class Application {
  public static void main(String[] args) {
    SpringApplication.run(Application.class, args);
    // Runs last, when the application has stopped; the JVM would exit with 128 + the signal.
    SpringApplication.getShutdownHandlers().add(() -> Runtime.getRuntime().halt(0));
  }
}
