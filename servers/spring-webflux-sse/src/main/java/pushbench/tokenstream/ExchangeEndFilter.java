package pushbench.tokenstream;

import org.springframework.stereotype.Component;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebFilter;
import org.springframework.web.server.WebFilterChain;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/**
 * Signals to the body of a response that the exchange has ended. Spring subscribes to a body before
 * it writes, and does not cancel it if the client has left by then.
 */
@Component
class ExchangeEndFilter implements WebFilter {
  private static final String END = ExchangeEndFilter.class.getName();

  @Override
  public Mono<Void> filter(ServerWebExchange exchange, WebFilterChain chain) {
    Sinks.Empty<Void> end = Sinks.empty();
    exchange.getAttributes().put(END, end.asMono());
    return chain.filter(exchange).doFinally(signal -> end.tryEmitEmpty());
  }

  /** Completes when the exchange has ended for any reason. */
  static Mono<Void> endOf(ServerWebExchange exchange) {
    return exchange.getRequiredAttribute(END);
  }
}
