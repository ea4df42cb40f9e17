package pushbench.posts;

import io.asyncer.r2dbc.mysql.MySqlConnectionFactory;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.SpringBootVersion;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import reactor.netty.http.server.HttpServer;

@RestController
class HealthController {
  record Health(String server, String runtime, String framework) {}

  private final Health health;

  HealthController(
      @Value("${spring.application.name}") String server,
      @Value("${java.version} (${java.vendor})") String java) {
    String framework =
        "Spring Boot %s / Reactor Netty %s / r2dbc-mysql %s"
            .formatted(
                SpringBootVersion.getVersion(),
                HttpServer.class.getPackage().getImplementationVersion(),
                MySqlConnectionFactory.class.getPackage().getImplementationVersion());
    health = new Health(server, "Java " + java, framework);
  }

  @GetMapping("/healthz")
  Health healthz() {
    return health;
  }
}
