package pushbench.posts;

import io.r2dbc.pool.ConnectionPool;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.stereotype.Component;

/**
 * Opens the pool before the server listens. Otherwise the first request would open it, and wait.
 */
@Component
class PoolOpener implements SmartInitializingSingleton {
  private final ConnectionPool pool;

  PoolOpener(ConnectionPool pool) {
    this.pool = pool;
  }

  /** Without its database the server starts nevertheless, and the pool connects later. */
  @Override
  public void afterSingletonsInstantiated() {
    pool.warmup().onErrorComplete().block();
  }
}
