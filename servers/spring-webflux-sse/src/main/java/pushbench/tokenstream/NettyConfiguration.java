package pushbench.tokenstream;

import java.time.Duration;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.http.client.ReactorResourceFactory;
import reactor.netty.resources.LoopResources;

@Configuration(proxyBeanMethods = false)
class NettyConfiguration {
  /** By default Reactor Netty has at least four event loops. */
  @Bean
  static ReactorResourceFactory eventLoops(
      @Value("${WORKERS:#{T(Runtime).runtime.availableProcessors()}}") int workers) {
    var resources = new ReactorResourceFactory();
    resources.setUseGlobalResources(false);
    resources.setLoopResourcesSupplier(() -> LoopResources.create("event-loop", workers, true));
    // When the loops stop, every request has ended. By default they wait 2 s for more requests.
    resources.setShutdownQuietPeriod(Duration.ZERO);
    return resources;
  }
}
