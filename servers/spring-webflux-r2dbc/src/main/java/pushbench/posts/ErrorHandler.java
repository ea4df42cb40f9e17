package pushbench.posts;

import java.util.concurrent.TimeoutException;
import org.springframework.dao.DataAccessException;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.transaction.TransactionException;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import org.springframework.web.bind.support.WebExchangeBindException;
import org.springframework.web.reactive.result.method.annotation.ResponseEntityExceptionHandler;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;

/** Answers every error with an {@link ErrorMessage}, also if no controller was found. */
@RestControllerAdvice
class ErrorHandler extends ResponseEntityExceptionHandler {
  @ExceptionHandler({DataAccessException.class, TransactionException.class, TimeoutException.class})
  Mono<ResponseEntity<Object>> answerWithoutDatabase() {
    HttpStatus status = HttpStatus.SERVICE_UNAVAILABLE;
    return answer(status, HttpHeaders.EMPTY, new ErrorMessage(status));
  }

  @Override
  protected Mono<ResponseEntity<Object>> handleExceptionInternal(
      Exception e,
      Object body,
      HttpHeaders headers,
      HttpStatusCode status,
      ServerWebExchange exchange) {
    return answer(
        status,
        headers,
        e instanceof WebExchangeBindException invalid
            ? new ErrorMessage(invalid.getBindingResult())
            : new ErrorMessage(status));
  }

  /** The type is JSON, whatever the client accepts. */
  private static Mono<ResponseEntity<Object>> answer(
      HttpStatusCode status, HttpHeaders headers, ErrorMessage message) {
    return Mono.just(
        ResponseEntity.status(status)
            .headers(headers)
            .contentType(MediaType.APPLICATION_JSON)
            .body(message));
  }
}
