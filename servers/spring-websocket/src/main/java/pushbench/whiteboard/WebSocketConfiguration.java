package pushbench.whiteboard;

import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.web.socket.config.annotation.EnableWebSocket;
import org.springframework.web.socket.config.annotation.WebSocketConfigurer;
import org.springframework.web.socket.config.annotation.WebSocketHandlerRegistry;
import org.springframework.web.socket.server.standard.ServletServerContainerFactoryBean;

@Configuration(proxyBeanMethods = false)
@EnableWebSocket
class WebSocketConfiguration implements WebSocketConfigurer {
  private final WhiteboardHandler handler;

  WebSocketConfiguration(WhiteboardHandler handler) {
    this.handler = handler;
  }

  @Override
  public void registerWebSocketHandlers(WebSocketHandlerRegistry registry) {
    registry.addHandler(handler, "/ws").setAllowedOriginPatterns("*");
  }

  /** Tomcat closes with 1009 when a message does not fit. Its default is 8 KiB. */
  @Bean
  static ServletServerContainerFactoryBean webSocketContainer() {
    var container = new ServletServerContainerFactoryBean();
    container.setMaxTextMessageBufferSize(WhiteboardHandler.MAX_MESSAGE_BYTES);
    container.setMaxBinaryMessageBufferSize(WhiteboardHandler.MAX_MESSAGE_BYTES);
    return container;
  }
}
