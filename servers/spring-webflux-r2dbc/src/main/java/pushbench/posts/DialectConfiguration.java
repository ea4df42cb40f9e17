package pushbench.posts;

import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.r2dbc.convert.R2dbcConverter;
import org.springframework.data.r2dbc.core.R2dbcEntityTemplate;
import org.springframework.data.r2dbc.dialect.MySqlDialect;
import org.springframework.r2dbc.core.DatabaseClient;

@Configuration(proxyBeanMethods = false)
class DialectConfiguration {
  /** The repository uses MariaDB like MySQL. */
  @Bean
  static R2dbcEntityTemplate r2dbcEntityTemplate(DatabaseClient client, R2dbcConverter converter) {
    return new R2dbcEntityTemplate(client, MySqlDialect.INSTANCE, converter);
  }
}
