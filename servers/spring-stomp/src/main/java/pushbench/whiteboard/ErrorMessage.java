package pushbench.whiteboard;

/** The error that a client receives on /user/queue/errors. */
record ErrorMessage(String type, String reason) {
  ErrorMessage(String reason) {
    this("error", reason);
  }
}
