package pushbench.location;

import org.springframework.http.HttpStatus;

/** Its message is the reason that is sent to the client. */
class RefusedException extends RuntimeException {
  private final HttpStatus status;

  RefusedException(HttpStatus status, String reason) {
    super(reason);
    this.status = status;
  }

  /** The client's message is malformed, or a part of it is missing or wrong. */
  RefusedException(String reason) {
    this(HttpStatus.BAD_REQUEST, reason);
  }

  HttpStatus status() {
    return status;
  }
}
