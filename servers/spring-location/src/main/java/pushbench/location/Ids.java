package pushbench.location;

import java.util.regex.Pattern;

/** The ids of groups and users. */
final class Ids {
  /** As a regular expression. */
  static final String ID = "[A-Za-z0-9_-]{1,64}";

  private static final Pattern PATTERN = Pattern.compile(ID);

  private Ids() {}

  /**
   * Returns the id, or refuses it.
   *
   * @param id null if it is missing
   */
  static String check(String name, String id) {
    if (id == null || !PATTERN.matcher(id).matches()) {
      throw new RefusedException(name + " must be 1 to 64 characters of A-Z a-z 0-9 - _");
    }
    return id;
  }
}
