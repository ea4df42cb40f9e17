package pushbench.location;

import java.io.IOException;
import java.util.Map;
import org.springframework.http.HttpMethod;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.server.ServerHttpRequest;
import org.springframework.http.server.ServerHttpResponse;
import org.springframework.stereotype.Component;
import org.springframework.web.socket.WebSocketHandler;
import org.springframework.web.socket.server.HandshakeInterceptor;
import tools.jackson.databind.json.JsonMapper;

/** Refuses requests that are not handshakes, like other invalid requests. */
@Component
class Handshake implements HandshakeInterceptor {
  private final JsonMapper mapper;

  Handshake(JsonMapper mapper) {
    this.mapper = mapper;
  }

  @Override
  public boolean beforeHandshake(
      ServerHttpRequest request,
      ServerHttpResponse response,
      WebSocketHandler handler,
      Map<String, Object> attributes)
      throws IOException {
    if (request.getMethod() != HttpMethod.GET) {
      response.getHeaders().set("Allow", HttpMethod.GET.name());
      return refuse(response, HttpStatus.METHOD_NOT_ALLOWED, "method not allowed");
    }
    if (!"websocket".equalsIgnoreCase(request.getHeaders().getUpgrade())) {
      return refuse(response, HttpStatus.BAD_REQUEST, "the request must be one for a WebSocket");
    }
    return true;
  }

  @Override
  public void afterHandshake(
      ServerHttpRequest request,
      ServerHttpResponse response,
      WebSocketHandler handler,
      Exception failure) {}

  /** Answers the request, and returns that there is no handshake. */
  boolean refuse(ServerHttpResponse response, HttpStatus status, String reason) throws IOException {
    response.setStatusCode(status);
    response.getHeaders().setContentType(MediaType.APPLICATION_JSON);
    response.getBody().write(mapper.writeValueAsBytes(new ErrorMessage(reason)));
    return false;
  }
}
