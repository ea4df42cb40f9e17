package pushbench.location;

/** Receives the positions of the other users of a group. Must not wait. */
interface Listener {
  void tell(News news);
}
