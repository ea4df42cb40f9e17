package pushbench.whiteboard;

/** What a client is told on /user/queue/errors. */
record ErrorMessage(String type, String reason) {
  ErrorMessage(String reason) {
    this("error", reason);
  }
}
