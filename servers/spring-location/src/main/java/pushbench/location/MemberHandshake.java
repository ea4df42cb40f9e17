package pushbench.location;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.apache.tomcat.util.http.InvalidParameterException;
import org.springframework.http.server.ServerHttpRequest;
import org.springframework.http.server.ServerHttpResponse;
import org.springframework.http.server.ServletServerHttpRequest;
import org.springframework.stereotype.Component;
import org.springframework.web.servlet.HandlerMapping;
import org.springframework.web.socket.WebSocketHandler;
import tools.jackson.databind.json.JsonMapper;

/** Reads the member to which a socket belongs. */
@Component
class MemberHandshake extends Handshake {
  MemberHandshake(JsonMapper mapper) {
    super(mapper);
  }

  @Override
  public boolean beforeHandshake(
      ServerHttpRequest request,
      ServerHttpResponse response,
      WebSocketHandler handler,
      Map<String, Object> attributes)
      throws IOException {
    if (!super.beforeHandshake(request, response, handler, attributes)) {
      return false;
    }
    try {
      attributes.put(GroupSocketHandler.MEMBER, memberOf((ServletServerHttpRequest) request));
      return true;
    } catch (RefusedException e) {
      return refuse(response, e.status(), e.getMessage());
    }
  }

  private static Member memberOf(ServletServerHttpRequest request) {
    var servletRequest = request.getServletRequest();
    var path =
        (Map<?, ?>) servletRequest.getAttribute(HandlerMapping.URI_TEMPLATE_VARIABLES_ATTRIBUTE);
    try {
      String[] users = servletRequest.getParameterValues("user");
      return new Member(
          (String) path.get("group"), Parameters.user(users == null ? null : List.of(users)));
    } catch (InvalidParameterException e) {
      throw new RefusedException("the query cannot be read");
    }
  }
}
