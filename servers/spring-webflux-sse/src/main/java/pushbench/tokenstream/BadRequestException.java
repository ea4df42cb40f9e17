package pushbench.tokenstream;

/** Its message is the reason that the client is told. */
class BadRequestException extends Exception {
  BadRequestException(String reason) {
    super(reason);
  }
}
