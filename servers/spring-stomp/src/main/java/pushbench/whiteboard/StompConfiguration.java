package pushbench.whiteboard;

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
   * Both channels run on the thread that reads the session: that keeps the order, and a sender
   * waits while its messages are handled.
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

  /** Tomcat's own limit is 8 KiB. */
  @Bean
  static ServletServerContainerFactoryBean webSocketContainer() {
    var container = new ServletServerContainerFactoryBean();
    container.setMaxTextMessageBufferSize(ClientHandler.MAX_MESSAGE_BYTES);
    container.setMaxBinaryMessageBufferSize(ClientHandler.MAX_MESSAGE_BYTES);
    return container;
  }
}
