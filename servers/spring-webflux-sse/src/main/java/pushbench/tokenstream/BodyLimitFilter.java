package pushbench.tokenstream;

import static java.nio.charset.StandardCharsets.UTF_8;

import org.springframework.core.io.buffer.DataBufferLimitException;
import org.springframework.core.io.buffer.DataBufferUtils;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.stereotype.Component;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebFilter;
import org.springframework.web.server.WebFilterChain;
import reactor.core.publisher.Mono;

/** Refuses requests with a large body, which nothing here would read. */
@Component
class BodyLimitFilter implements WebFilter {
  private static final int MAX_BODY_BYTES = 64 * 1024;

  private static final byte[] REFUSAL =
      ("{\"error\":\"a body must have at most " + MAX_BODY_BYTES + " bytes\"}").getBytes(UTF_8);

  @Override
  public Mono<Void> filter(ServerWebExchange exchange, WebFilterChain chain) {
    ServerHttpRequest request = exchange.getRequest();
    if (request.getHeaders().getContentLength() > MAX_BODY_BYTES) {
      return refuse(exchange.getResponse());
    }
    if (request.getHeaders().getFirst(HttpHeaders.TRANSFER_ENCODING) == null) {
      return chain.filter(exchange);
    }
    return DataBufferUtils.join(request.getBody(), MAX_BODY_BYTES)
        .doOnNext(DataBufferUtils::release)
        .then(Mono.defer(() -> chain.filter(exchange)))
        .onErrorResume(DataBufferLimitException.class, e -> refuse(exchange.getResponse()));
  }

  private static Mono<Void> refuse(ServerHttpResponse response) {
    response.setStatusCode(HttpStatus.CONTENT_TOO_LARGE);
    response.getHeaders().setContentType(MediaType.APPLICATION_JSON);
    response.getHeaders().setContentLength(REFUSAL.length);
    return response.writeWith(Mono.just(response.bufferFactory().wrap(REFUSAL)));
  }
}
