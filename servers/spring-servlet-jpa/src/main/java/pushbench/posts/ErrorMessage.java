package pushbench.posts;

import static java.util.stream.Collectors.joining;

import org.springframework.http.HttpStatusCode;
import org.springframework.validation.Errors;

/** The error that a client receives if its request was refused, or failed. */
record ErrorMessage(String error) {
  ErrorMessage(HttpStatusCode status) {
    this(reason(status.value()));
  }

  /** Names each field that is missing or wrong. */
  ErrorMessage(Errors errors) {
    this(
        errors.getFieldErrors().stream()
            .map(error -> error.getField() + " " + error.getDefaultMessage())
            .sorted()
            .collect(joining(", ")));
  }

  private static String reason(int status) {
    return switch (status) {
      case 400 -> "a body must be a JSON object with the strings title and content";
      case 404 -> "not found";
      case 405 -> "method not allowed";
      case 413 -> "a body must have at most 65536 bytes";
      case 415 -> "the Content-Type must be application/json";
      case 503 -> "the database does not answer";
      default -> "failed with status " + status;
    };
  }
}
