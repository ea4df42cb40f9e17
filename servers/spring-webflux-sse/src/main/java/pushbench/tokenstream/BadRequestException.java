package pushbench.tokenstream;

/** Its message is the reason that is sent to the client. */
class BadRequestException extends Exception {
  BadRequestException(String reason) {
    super(reason);
  }
}
