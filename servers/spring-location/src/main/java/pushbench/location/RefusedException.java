package pushbench.location;

import org.springframework.http.HttpStatus;

/** Its message is the reason that the client is told. */
class RefusedException extends RuntimeException {
  private final HttpStatus status;

  RefusedException(HttpStatus status, String reason) {
    super(reason);
    this.status = status;
  }

  /** What the client sent is malformed, or a part of it is missing or wrong. */
  RefusedException(String reason) {
    this(HttpStatus.BAD_REQUEST, reason);
  }

  HttpStatus status() {
    return status;
  }
}
