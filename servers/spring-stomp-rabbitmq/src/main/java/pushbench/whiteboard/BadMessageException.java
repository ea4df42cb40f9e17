package pushbench.whiteboard;

/** Its message is the reason that is sent to the client. */
class BadMessageException extends Exception {
  BadMessageException(String reason) {
    super(reason);
  }
}
