package pushbench.whiteboard;

import org.apache.coyote.AbstractProtocol;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.tomcat.servlet.TomcatServletWebServerFactory;
import org.springframework.boot.web.server.WebServerFactoryCustomizer;
import org.springframework.boot.web.server.context.WebServerApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.task.SyncTaskExecutor;
import org.springframework.messaging.simp.config.ChannelRegistration;
import org.springframework.messaging.simp.config.MessageBrokerRegistry;
import org.springframework.messaging.simp.stomp.StompReactorNettyCodec;
import org.springframework.messaging.tcp.reactor.ReactorNettyTcpClient;
import org.springframework.web.socket.config.annotation.EnableWebSocketMessageBroker;
import org.springframework.web.socket.config.annotation.StompEndpointRegistry;
import org.springframework.web.socket.config.annotation.WebSocketMessageBrokerConfigurer;
import org.springframework.web.socket.config.annotation.WebSocketTransportRegistration;
import org.springframework.web.socket.server.standard.ServletServerContainerFactoryBean;
import reactor.netty.resources.LoopResources;
import reactor.netty.tcp.TcpClient;

@Configuration(proxyBeanMethods = false)
@EnableWebSocketMessageBroker
class StompConfiguration implements WebSocketMessageBrokerConfigurer {
  private final Broker broker;
  private final DestinationGuard guard;
  private final ReceiptReader receipts;
  private final int workers;

  StompConfiguration(
      Broker broker,
      DestinationGuard guard,
      ReceiptReader receipts,
      @Value("${WORKERS:#{T(Runtime).runtime.availableProcessors()}}") int workers) {
    this.broker = broker;
    this.guard = guard;
    this.receipts = receipts;
    this.workers = workers;
  }

  @Override
  public void registerStompEndpoints(StompEndpointRegistry registry) {
    registry.addEndpoint("/stomp").setAllowedOriginPatterns("*");
  }

  @Override
  public void configureMessageBroker(MessageBrokerRegistry registry) {
    registry.setApplicationDestinationPrefixes("/app");
    registry
        .enableStompBrokerRelay("/topic", "/exchange")
        .setTcpClient(tcpClient())
        .setVirtualHost("/")
        .setSystemLogin(broker.login)
        .setSystemPasscode(broker.passcode)
        .setClientLogin(broker.login)
        .setClientPasscode(broker.passcode);
  }

  /**
   * A connection belongs to one session, so none is pooled. The event loops end with the process:
   * Spring's own would wait 2 s for further work when it stops them.
   */
  private ReactorNettyTcpClient<byte[]> tcpClient() {
    var client =
        TcpClient.newConnection()
            .host(broker.host)
            .port(broker.port)
            .runOn(LoopResources.create("relay", workers, true), false);
    return new ReactorNettyTcpClient<>(client, new StompReactorNettyCodec());
  }

  /** The relay stops after {@link GoingAway}: it would end all sessions with an error. */
  @Override
  public Integer getPhase() {
    return WebServerApplicationContext.GRACEFUL_SHUTDOWN_PHASE - 2;
  }

  /**
   * The channel runs on the thread that reads the sender's session. That keeps the order, and makes
   * a client that sends too fast wait. It waits for the broker, too, because the relay waits until
   * its connection has accepted a message. On an executor the order requires
   * setPreserveReceiveOrder, whose queues grow without bound.
   */
  @Override
  public void configureClientInboundChannel(ChannelRegistration registration) {
    registration.executor(new SyncTaskExecutor()).interceptors(guard);
  }

  /** This channel runs on the thread that reads the session's connection to the broker. */
  @Override
  public void configureClientOutboundChannel(ChannelRegistration registration) {
    registration.executor(new SyncTaskExecutor()).interceptors(receipts);
  }

  @Override
  public void configureWebSocketTransport(WebSocketTransportRegistration registration) {
    registration
        .setMessageSizeLimit(ClientHandler.MAX_MESSAGE_BYTES)
        .addDecoratorFactory(ClientHandler::new);
  }

  /**
   * These threads wait only for the broker: for its receipts, and until it accepts a message. More
   * threads cost more CPU time per delivery, as for spring-stomp.
   */
  @Bean
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
