package pushbench.location;

/** Somebody who is told the positions of the other users of a group. Does not wait. */
interface Listener {
  void tell(News news);
}
