package pushbench.location;

import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.task.SyncTaskExecutor;
import org.springframework.messaging.simp.config.ChannelRegistration;
import org.springframework.messaging.simp.config.MessageBrokerRegistry;
import org.springframework.web.socket.config.annotation.EnableWebSocketMessageBroker;
import org.springframework.web.socket.config.annotation.StompEndpointRegistry;
import org.springframework.web.socket.config.annotation.WebSocketMessageBrokerConfigurer;
import org.springframework.web.socket.config.annotation.WebSocketTransportRegistration;

@Configuration(proxyBeanMethods = false)
@EnableWebSocketMessageBroker
class StompConfiguration implements WebSocketMessageBrokerConfigurer {
  /** The destination ends with the id of the group. */
  static final String TOPIC = "/topic/group.";

  private final DestinationGuard guard;
  private final Handshake handshake;
  private final OpenSessions sessions;

  StompConfiguration(
      DestinationGuard guard, @Qualifier("handshake") Handshake handshake, OpenSessions sessions) {
    this.guard = guard;
    this.handshake = handshake;
    this.sessions = sessions;
  }

  @Override
  public void registerStompEndpoints(StompEndpointRegistry registry) {
    registry.addEndpoint("/stomp").addInterceptors(handshake).setAllowedOriginPatterns("*");
  }

  @Override
  public void configureMessageBroker(MessageBrokerRegistry registry) {
    registry.setApplicationDestinationPrefixes("/app");
    registry.enableSimpleBroker("/topic", "/queue");
    // With more groups than this, the broker searches all subscriptions for each message.
    registry.setCacheLimit(16 * 1024);
  }

  /**
   * Both channels run on the thread that reads the sender's session. That keeps the order, and
   * makes a client that sends too fast wait. On executors the order requires
   * setPreserveReceiveOrder and setPreservePublishOrder, whose queues grow without bound.
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
        .addDecoratorFactory(handler -> new ClientHandler(handler, sessions));
  }
}
