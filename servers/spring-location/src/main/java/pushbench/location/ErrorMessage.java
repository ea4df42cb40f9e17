package pushbench.location;

/** What a client is told, over every transport. */
record ErrorMessage(String error) {}
