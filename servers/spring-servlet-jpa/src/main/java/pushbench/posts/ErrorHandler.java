package pushbench.posts;

import org.springframework.dao.DataAccessException;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.transaction.TransactionException;
import org.springframework.web.bind.MethodArgumentNotValidException;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import org.springframework.web.context.request.WebRequest;
import org.springframework.web.servlet.mvc.method.annotation.ResponseEntityExceptionHandler;

/** Answers every error with an {@link ErrorMessage}, also if no controller was found. */
@RestControllerAdvice
class ErrorHandler extends ResponseEntityExceptionHandler {
  @ExceptionHandler({DataAccessException.class, TransactionException.class})
  ResponseEntity<Object> answerWithoutDatabase() {
    HttpStatus status = HttpStatus.SERVICE_UNAVAILABLE;
    return answer(status, HttpHeaders.EMPTY, new ErrorMessage(status));
  }

  @Override
  protected ResponseEntity<Object> handleExceptionInternal(
      Exception e, Object body, HttpHeaders headers, HttpStatusCode status, WebRequest request) {
    return answer(
        status,
        headers,
        e instanceof MethodArgumentNotValidException invalid
            ? new ErrorMessage(invalid.getBindingResult())
            : new ErrorMessage(status));
  }

  /** The type is JSON, whatever the client accepts. */
  private static ResponseEntity<Object> answer(
      HttpStatusCode status, HttpHeaders headers, ErrorMessage message) {
    return ResponseEntity.status(status)
        .headers(headers)
        .contentType(MediaType.APPLICATION_JSON)
        .body(message);
  }
}
