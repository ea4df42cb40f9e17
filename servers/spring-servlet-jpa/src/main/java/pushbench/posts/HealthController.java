package pushbench.posts;

import org.apache.catalina.util.ServerInfo;
import org.hibernate.Version;
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
    String framework =
        "Spring Boot %s / %s / Hibernate %s"
            .formatted(
                SpringBootVersion.getVersion(),
                ServerInfo.getServerInfo(),
                Version.getVersionString());
    health = new Health(server, "Java " + java, framework);
  }

  @GetMapping("/healthz")
  Health healthz() {
    return health;
  }
}
