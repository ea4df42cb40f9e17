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

/** Refuses requests that arrive after the streams have ended and before the port closes. */
@Component
class StoppingFilter extends OncePerRequestFilter {
  private static final String REFUSAL = "{\"error\":\"the server is stopping\"}";

  private final OpenResponses responses;

  StoppingFilter(OpenResponses responses) {
    this.responses = responses;
  }

  @Override
  protected void doFilterInternal(
      HttpServletRequest request, HttpServletResponse response, FilterChain chain)
      throws ServletException, IOException {
    if (responses.isRunning()) {
      chain.doFilter(request, response);
      return;
    }
    response.setStatus(HttpStatus.SERVICE_UNAVAILABLE.value());
    response.setHeader(HttpHeaders.CONNECTION, "close");
    response.setContentType(MediaType.APPLICATION_JSON_VALUE);
    response.getWriter().write(REFUSAL);
  }
}
