package pushbench.location;

/** The error that a client receives, over every transport. */
record ErrorMessage(String error) {}
