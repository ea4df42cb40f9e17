package pushbench.whiteboard;

import org.apache.coyote.AbstractProtocol;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.autoconfigure.condition.ConditionalOnThreading;
import org.springframework.boot.thread.Threading;
import org.springframework.boot.tomcat.servlet.TomcatServletWebServerFactory;
import org.springframework.boot.web.server.WebServerFactoryCustomizer;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.task.SyncTaskExecutor;
import org.springframework.messaging.simp.config.ChannelRegistration;
import org.springframework.messaging.simp.config.MessageBrokerRegistry;
import org.springframework.web.socket.config.annotation.EnableWebSocketMessageBroker;
import org.springframework.web.socket.config.annotation.StompEndpointRegistry;
import org.springframework.web.socket.config.annotation.WebSocketMessageBrokerConfigurer;
import org.springframework.web.socket.config.annotation.WebSocketTransportRegistration;
import org.springframework.web.socket.server.standard.ServletServerContainerFactoryBean;

@Configuration(proxyBeanMethods = false)
@EnableWebSocketMessageBroker
class StompConfiguration implements WebSocketMessageBrokerConfigurer {
  private final DestinationGuard guard;

  StompConfiguration(DestinationGuard guard) {
    this.guard = guard;
  }

  @Override
  public void registerStompEndpoints(StompEndpointRegistry registry) {
    registry.addEndpoint("/stomp").setAllowedOriginPatterns("*");
  }

  @Override
  public void configureMessageBroker(MessageBrokerRegistry registry) {
    registry.setApplicationDestinationPrefixes("/app");
    registry.enableSimpleBroker("/topic", "/queue");
    // With more boards than this, the broker searches all subscriptions for each message.
    registry.setCacheLimit(16 * 1024);
  }

  /**
   * Both channels run on the thread that reads the sender's session, platform or virtual. That
   * keeps the order, and makes a client that sends too fast wait. On executors, including Boot's
   * for virtual threads, the order requires setPreserveReceiveOrder and setPreservePublishOrder,
   * whose queues grow without bound.
   */
  @Override
  public void configureClientInboundChannel(ChannelRegistration registration) {
    registration.executor(new SyncTaskExecutor()).interceptors(guard);
  }

  @Override
  public void configureClientOutboundChannel(ChannelRegistration registration) {
    registration.executor(new SyncTaskExecutor());
  }

  @Override
  public void configureWebSocketTransport(WebSocketTransportRegistration registration) {
    registration
        .setMessageSizeLimit(ClientHandler.MAX_MESSAGE_BYTES)
        .addDecoratorFactory(ClientHandler::new);
  }

  /**
   * These threads never wait. With 200, the default of Tomcat, a delivery takes twice the CPU time;
   * with too few, clients that send without pause could occupy all of them.
   */
  @Bean
  @ConditionalOnThreading(Threading.PLATFORM)
  static WebServerFactoryCustomizer<TomcatServletWebServerFactory> tomcatThreads(
      @Value("${WORKERS:#{T(Runtime).runtime.availableProcessors()}}") int workers) {
    return factory ->
        factory.addConnectorCustomizers(
            connector ->
                ((AbstractProtocol<?>) connector.getProtocolHandler()).setMaxThreads(8 * workers));
  }

  /** Tomcat's own limit is 8 KiB. */
  @Bean
  static ServletServerContainerFactoryBean webSocketContainer() {
    var container = new ServletServerContainerFactoryBean();
    container.setMaxTextMessageBufferSize(ClientHandler.MAX_MESSAGE_BYTES);
    container.setMaxBinaryMessageBufferSize(ClientHandler.MAX_MESSAGE_BYTES);
    return container;
  }
}
