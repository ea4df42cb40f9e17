package pushbench.whiteboard;

import org.apache.catalina.util.ServerInfo;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.SpringBootVersion;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** Without the broker no client can connect. */
@RestController
class HealthController {
  record Health(String server, String runtime, String framework) {}

  private final Health health;
  private final Broker broker;

  HealthController(
      @Value("${spring.application.name}") String server,
      @Value("${java.version} (${java.vendor})") String java,
      Broker broker) {
    this.broker = broker;
    health =
        new Health(
            server,
            "Java " + java,
            "Spring Boot " + SpringBootVersion.getVersion() + " / " + ServerInfo.getServerInfo());
  }

  @GetMapping("/healthz")
  ResponseEntity<Health> healthz() {
    var status = broker.isAvailable() ? HttpStatus.OK : HttpStatus.SERVICE_UNAVAILABLE;
    return ResponseEntity.status(status).body(health);
  }
}
