package pushbench.location;

import org.apache.catalina.util.ServerInfo;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.SpringBootVersion;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

@RestController
class HealthController {
  record Health(String server, String runtime, String framework) {}

  private final Health health;

  HealthController(
      @Value("${spring.application.name}") String server,
      @Value("${java.version} (${java.vendor})") String java) {
    health =
        new Health(
            server,
            "Java " + java,
            "Spring Boot " + SpringBootVersion.getVersion() + " / " + ServerInfo.getServerInfo());
  }

  @GetMapping("/healthz")
  Health healthz() {
    return health;
  }
}
