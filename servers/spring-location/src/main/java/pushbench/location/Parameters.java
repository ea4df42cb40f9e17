package pushbench.location;

import java.time.Duration;
import java.util.List;
import java.util.OptionalLong;
import java.util.regex.Pattern;

/**
 * Reads the parameters of requests. Each list has the values of a parameter or header, or is null
 * where there is none.
 */
final class Parameters {
  /** Every integer up to this one is a number of JSON. */
  static final long MAX_COUNT = (1L << 53) - 1;

  private static final int MAX_WAIT_SECONDS = 25;

  /** Decimal digits without a sign or a leading zero. */
  private static final Pattern INTEGER = Pattern.compile("0|[1-9][0-9]{0,15}");

  private Parameters() {}

  static String user(List<String> values) {
    return Ids.check("user", only(values));
  }

  /**
   * Returns the version up to which the client has all news, if it sends one.
   *
   * @param name of the parameter or header
   */
  static OptionalLong since(String name, List<String> values) {
    return values == null
        ? OptionalLong.empty()
        : OptionalLong.of(integer(name, values, 0, MAX_COUNT));
  }

  static Duration wait(List<String> values) {
    return Duration.ofSeconds(integer("wait", values, 1, MAX_WAIT_SECONDS));
  }

  private static long integer(String name, List<String> values, long least, long most) {
    String text = only(values);
    if (text != null && INTEGER.matcher(text).matches()) {
      long number = Long.parseLong(text);
      if (least <= number && number <= most) {
        return number;
      }
    }
    throw new RefusedException(name + " must be an integer from " + least + " to " + most);
  }

  private static String only(List<String> values) {
    return values != null && values.size() == 1 ? values.getFirst() : null;
  }
}
