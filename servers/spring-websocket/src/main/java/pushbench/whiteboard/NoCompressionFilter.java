package pushbench.whiteboard;

import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.Collections;
import java.util.Enumeration;
import org.springframework.stereotype.Component;
import org.springframework.web.filter.OncePerRequestFilter;
import org.springframework.web.socket.WebSocketHttpHeaders;

/**
 * Hides a client's offer to compress from Tomcat, which has no setting for this and accepts the
 * offer whatever a HandshakeHandler selects.
 */
@Component
class NoCompressionFilter extends OncePerRequestFilter {
  @Override
  protected void doFilterInternal(
      HttpServletRequest request, HttpServletResponse response, FilterChain chain)
      throws ServletException, IOException {
    chain.doFilter(new WithoutExtensions(request), response);
  }

  private static class WithoutExtensions extends HttpServletRequestWrapper {
    WithoutExtensions(HttpServletRequest request) {
      super(request);
    }

    @Override
    public Enumeration<String> getHeaders(String name) {
      return name.equalsIgnoreCase(WebSocketHttpHeaders.SEC_WEBSOCKET_EXTENSIONS)
          ? Collections.emptyEnumeration()
          : super.getHeaders(name);
    }
  }
}
