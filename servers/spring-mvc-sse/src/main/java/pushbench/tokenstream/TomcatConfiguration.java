package pushbench.tokenstream;

import org.apache.catalina.core.StandardContext;
import org.springframework.boot.tomcat.servlet.TomcatServletWebServerFactory;
import org.springframework.boot.web.server.WebServerFactoryCustomizer;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

@Configuration(proxyBeanMethods = false)
class TomcatConfiguration {
  /**
   * Tomcat keeps counting a request whose client resets the connection before the response begins.
   * When the server stops, Spring waits for that request, and afterwards Tomcat would wait 2 s
   * more.
   */
  @Bean
  static WebServerFactoryCustomizer<TomcatServletWebServerFactory> noSecondWait() {
    return factory ->
        factory.addContextCustomizers(context -> ((StandardContext) context).setUnloadDelay(0));
  }
}
