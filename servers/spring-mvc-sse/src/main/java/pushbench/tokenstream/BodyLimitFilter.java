package pushbench.tokenstream;

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

/** Refuses requests with a large body, which nothing here would read. */
@Component
class BodyLimitFilter extends OncePerRequestFilter {
  private static final int MAX_BODY_BYTES = 64 * 1024;

  private static final String REFUSAL =
      "{\"error\":\"a body must have at most " + MAX_BODY_BYTES + " bytes\"}";

  @Override
  protected void doFilterInternal(
      HttpServletRequest request, HttpServletResponse response, FilterChain chain)
      throws ServletException, IOException {
    if (isTooLarge(request)) {
      response.setStatus(HttpStatus.CONTENT_TOO_LARGE.value());
      response.setContentType(MediaType.APPLICATION_JSON_VALUE);
      response.getWriter().write(REFUSAL);
    } else {
      chain.doFilter(request, response);
    }
  }

  private static boolean isTooLarge(HttpServletRequest request) throws IOException {
    if (request.getHeader(HttpHeaders.TRANSFER_ENCODING) != null) {
      return request.getInputStream().readNBytes(MAX_BODY_BYTES + 1).length > MAX_BODY_BYTES;
    }
    return request.getContentLengthLong() > MAX_BODY_BYTES;
  }
}
