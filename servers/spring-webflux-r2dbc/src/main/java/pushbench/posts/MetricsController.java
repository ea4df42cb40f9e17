package pushbench.posts;

import io.r2dbc.pool.ConnectionPool;
import io.r2dbc.pool.PoolMetrics;
import java.lang.management.ManagementFactory;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import tools.jackson.databind.PropertyNamingStrategies.SnakeCaseStrategy;
import tools.jackson.databind.annotation.JsonNaming;

@RestController
class MetricsController {
  @JsonNaming(SnakeCaseStrategy.class)
  record Metrics(int poolSize, int poolActive, int poolWaiting, int threads) {}

  private final PoolMetrics pool;

  MetricsController(ConnectionPool pool) {
    this.pool = pool.getMetrics().orElseThrow();
  }

  @GetMapping("/metricz")
  Metrics metricz() {
    return new Metrics(
        pool.getMaxAllocatedSize(),
        pool.acquiredSize(),
        pool.pendingAcquireSize(),
        ManagementFactory.getThreadMXBean().getThreadCount());
  }
}
