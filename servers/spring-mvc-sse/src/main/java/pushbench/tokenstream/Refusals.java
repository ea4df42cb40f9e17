package pushbench.tokenstream;

import org.apache.tomcat.util.http.InvalidParameterException;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.web.ErrorResponse;
import org.springframework.web.HttpRequestMethodNotSupportedException;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import org.springframework.web.context.request.async.AsyncRequestNotUsableException;
import org.springframework.web.servlet.NoHandlerFoundException;
import org.springframework.web.servlet.resource.NoResourceFoundException;

/** The answers to requests that are refused. */
@RestControllerAdvice
class Refusals {
  record Refusal(String error) {}

  @ExceptionHandler
  ResponseEntity<Refusal> refuse(BadRequestException e) {
    return refuse(HttpStatus.BAD_REQUEST, HttpHeaders.EMPTY, e.getMessage());
  }

  @ExceptionHandler(InvalidParameterException.class)
  ResponseEntity<Refusal> refuseMalformedQuery() {
    return refuse(HttpStatus.BAD_REQUEST, HttpHeaders.EMPTY, "the query cannot be read");
  }

  @ExceptionHandler({
    HttpRequestMethodNotSupportedException.class,
    NoHandlerFoundException.class,
    NoResourceFoundException.class
  })
  ResponseEntity<Refusal> refuse(ErrorResponse e) {
    var status = HttpStatus.valueOf(e.getStatusCode().value());
    return refuse(status, e.getHeaders(), status.getReasonPhrase());
  }

  /** No client is left to answer. Spring would log a warning. */
  @ExceptionHandler(AsyncRequestNotUsableException.class)
  void clientHasLeft() {}

  private static ResponseEntity<Refusal> refuse(
      HttpStatus status, HttpHeaders headers, String reason) {
    // JSON whatever the client accepts, which may be text/event-stream only.
    return ResponseEntity.status(status)
        .headers(headers)
        .contentType(MediaType.APPLICATION_JSON)
        .body(new Refusal(reason));
  }
}
