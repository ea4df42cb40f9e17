package pushbench.whiteboard;

/** Its message is the reason that the client is told. */
class BadMessageException extends Exception {
  BadMessageException(String reason) {
    super(reason);
  }
}
