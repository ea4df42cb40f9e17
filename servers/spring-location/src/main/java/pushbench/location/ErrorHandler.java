package pushbench.location;

import org.apache.tomcat.util.http.InvalidParameterException;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import org.springframework.web.context.request.WebRequest;
import org.springframework.web.servlet.mvc.method.annotation.ResponseEntityExceptionHandler;

/** Answers every error with an {@link ErrorMessage}, also if no controller was found. */
@RestControllerAdvice
class ErrorHandler extends ResponseEntityExceptionHandler {
  @ExceptionHandler
  ResponseEntity<Object> answer(RefusedException e) {
    return answer(e.status(), HttpHeaders.EMPTY, e.getMessage());
  }

  @ExceptionHandler(InvalidParameterException.class)
  ResponseEntity<Object> answerMalformedQuery() {
    return answer(HttpStatus.BAD_REQUEST, HttpHeaders.EMPTY, "the query cannot be read");
  }

  @Override
  protected ResponseEntity<Object> handleExceptionInternal(
      Exception e, Object body, HttpHeaders headers, HttpStatusCode status, WebRequest request) {
    return answer(status, headers, reason(status.value()));
  }

  private static String reason(int status) {
    return switch (status) {
      case 400 -> "a body must be a JSON object";
      case 404 -> "not found";
      case 405 -> "method not allowed";
      case 415 -> "the Content-Type must be application/json";
      default -> "failed with status " + status;
    };
  }

  /** The type is JSON, whatever the client accepts. */
  private static ResponseEntity<Object> answer(
      HttpStatusCode status, HttpHeaders headers, String reason) {
    return ResponseEntity.status(status)
        .headers(headers)
        .contentType(MediaType.APPLICATION_JSON)
        .body(new ErrorMessage(reason));
  }
}
