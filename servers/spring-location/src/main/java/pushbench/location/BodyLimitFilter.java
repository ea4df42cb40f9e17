package pushbench.location;

import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.stereotype.Component;
import org.springframework.web.filter.OncePerRequestFilter;

/** Refuses requests with a large body, even if nothing reads it. */
@Component
class BodyLimitFilter extends OncePerRequestFilter {
  private static final int MAX_BODY_BYTES = 64 * 1024;

  private static final String REFUSAL =
      "{\"error\":\"a body must have at most " + MAX_BODY_BYTES + " bytes\"}";

  @Override
  protected void doFilterInternal(
      HttpServletRequest request, HttpServletResponse response, FilterChain chain)
      throws ServletException, IOException {
    if (request.getContentLengthLong() > MAX_BODY_BYTES) {
      refuse(response);
    } else if (request.getHeader(HttpHeaders.TRANSFER_ENCODING) == null) {
      chain.doFilter(request, response);
    } else {
      byte[] body = request.getInputStream().readNBytes(MAX_BODY_BYTES + 1);
      if (body.length > MAX_BODY_BYTES) {
        refuse(response);
      } else {
        chain.doFilter(new ReadRequest(request, body), response);
      }
    }
  }

  private static void refuse(HttpServletResponse response) throws IOException {
    response.setStatus(HttpStatus.CONTENT_TOO_LARGE.value());
    response.setContentType(MediaType.APPLICATION_JSON_VALUE);
    response.getWriter().write(REFUSAL);
  }
}
