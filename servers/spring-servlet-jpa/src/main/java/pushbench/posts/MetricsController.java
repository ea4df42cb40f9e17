package pushbench.posts;

import com.zaxxer.hikari.HikariDataSource;
import com.zaxxer.hikari.HikariPoolMXBean;
import java.lang.management.ManagementFactory;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import tools.jackson.databind.PropertyNamingStrategies.SnakeCaseStrategy;
import tools.jackson.databind.annotation.JsonNaming;

@RestController
class MetricsController {
  /** Virtual threads do not count as threads. */
  @JsonNaming(SnakeCaseStrategy.class)
  record Metrics(int poolSize, int poolActive, int poolWaiting, int threads) {}

  private final HikariDataSource dataSource;

  MetricsController(HikariDataSource dataSource) {
    this.dataSource = dataSource;
  }

  @GetMapping("/metricz")
  Metrics metricz() {
    // The first request for a connection creates the pool.
    HikariPoolMXBean pool = dataSource.getHikariPoolMXBean();
    return new Metrics(
        dataSource.getMaximumPoolSize(),
        pool == null ? 0 : pool.getActiveConnections(),
        pool == null ? 0 : pool.getThreadsAwaitingConnection(),
        ManagementFactory.getThreadMXBean().getThreadCount());
  }
}
