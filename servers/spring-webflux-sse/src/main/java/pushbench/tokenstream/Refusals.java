package pushbench.tokenstream;

import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import org.springframework.web.server.ResponseStatusException;

/** The answers to requests that are refused. */
@RestControllerAdvice
class Refusals {
  record Refusal(String error) {}

  @ExceptionHandler
  ResponseEntity<Refusal> refuse(BadRequestException e) {
    return refuse(HttpStatus.BAD_REQUEST, HttpHeaders.EMPTY, e.getMessage());
  }

  /** Spring's own refusals: an unknown path, and a wrong method. */
  @ExceptionHandler
  ResponseEntity<Refusal> refuse(ResponseStatusException e) {
    var status = HttpStatus.valueOf(e.getStatusCode().value());
    return refuse(status, e.getHeaders(), status.getReasonPhrase());
  }

  private static ResponseEntity<Refusal> refuse(
      HttpStatus status, HttpHeaders headers, String reason) {
    // JSON whatever the client accepts, which may be text/event-stream only.
    return ResponseEntity.status(status)
        .headers(headers)
        .contentType(MediaType.APPLICATION_JSON)
        .body(new Refusal(reason));
  }
}
