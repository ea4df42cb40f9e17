package pushbench.tokenstream;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.autoconfigure.condition.ConditionalOnThreading;
import org.springframework.boot.task.ThreadPoolTaskSchedulerCustomizer;
import org.springframework.boot.thread.Threading;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.scheduling.annotation.EnableScheduling;

@Configuration(proxyBeanMethods = false)
@ConditionalOnThreading(Threading.PLATFORM)
@EnableScheduling
class SchedulerConfiguration {
  /** By default Spring Boot's scheduler has one thread. */
  @Bean
  static ThreadPoolTaskSchedulerCustomizer schedulerThreads(
      @Value("${WORKERS:#{T(Runtime).runtime.availableProcessors()}}") int workers) {
    return scheduler -> scheduler.setPoolSize(workers);
  }
}
