package pushbench.posts;

import org.apache.catalina.core.StandardContext;
import org.springframework.boot.tomcat.servlet.TomcatServletWebServerFactory;
import org.springframework.boot.web.server.WebServerFactoryCustomizer;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

@Configuration(proxyBeanMethods = false)
class TomcatConfiguration {
  /**
   * Tomcat ends no request on a virtual thread. When the server stops, Spring waits for requests,
   * and afterwards Tomcat would wait 2 s more for the same ones.
   */
  @Bean
  static WebServerFactoryCustomizer<TomcatServletWebServerFactory> noSecondWait() {
    return factory ->
        factory.addContextCustomizers(context -> ((StandardContext) context).setUnloadDelay(0));
  }
}
