package pushbench.tokenstream;

/** Sends streams at a pace. */
interface Pacer {
  /**
   * @param pace the characters due in a second, the first of them now
   */
  void start(TokenStream stream, int pace);
}
