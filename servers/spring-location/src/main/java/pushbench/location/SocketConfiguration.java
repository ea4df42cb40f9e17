package pushbench.location;

import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.web.socket.config.annotation.EnableWebSocket;
import org.springframework.web.socket.config.annotation.WebSocketConfigurer;
import org.springframework.web.socket.config.annotation.WebSocketHandlerRegistry;
import org.springframework.web.socket.server.standard.ServletServerContainerFactoryBean;

@Configuration(proxyBeanMethods = false)
@EnableWebSocket
class SocketConfiguration implements WebSocketConfigurer {
  /**
   * Large enough for a position. Each session has both buffers, and larger messages arrive in
   * parts.
   */
  private static final int BUFFER_BYTES = 1024;

  private final GroupSocketHandler handler;
  private final MemberHandshake handshake;
  private final OpenSessions sessions;

  SocketConfiguration(
      GroupSocketHandler handler, MemberHandshake handshake, OpenSessions sessions) {
    this.handler = handler;
    this.handshake = handshake;
    this.sessions = sessions;
  }

  @Override
  public void registerWebSocketHandlers(WebSocketHandlerRegistry registry) {
    registry
        .addHandler(new ClientHandler(handler, sessions), "/groups/{group}/socket")
        .addInterceptors(handshake)
        .setAllowedOriginPatterns("*");
  }

  @Bean
  static ServletServerContainerFactoryBean webSocketContainer() {
    var container = new ServletServerContainerFactoryBean();
    container.setMaxTextMessageBufferSize(BUFFER_BYTES);
    container.setMaxBinaryMessageBufferSize(BUFFER_BYTES);
    return container;
  }
}
