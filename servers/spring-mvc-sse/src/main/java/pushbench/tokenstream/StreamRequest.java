package pushbench.tokenstream;

import java.util.List;
import java.util.OptionalInt;
import java.util.regex.Pattern;

/**
 * The request of a client: the first character, and how many are due a second, if not all at once.
 */
record StreamRequest(int first, OptionalInt pace) {
  private static final int MAX_PACE = 1000;

  /** Decimal digits without a sign or a leading zero. */
  private static final Pattern INTEGER = Pattern.compile("0|[1-9][0-9]{0,3}");

  /** Each list has the values of a parameter or header, or is null if there is none. */
  static StreamRequest parse(List<String> paces, List<String> lastEventIds)
      throws BadRequestException {
    var pace = OptionalInt.empty();
    if (paces != null) {
      pace = OptionalInt.of(parse("pace", paces, 1, MAX_PACE));
    }
    int first = 0;
    if (lastEventIds != null) {
      first = parse("Last-Event-ID", lastEventIds, 0, Text.CHARACTERS.size() - 1) + 1;
    }
    return new StreamRequest(first, pace);
  }

  private static int parse(String name, List<String> values, int least, int most)
      throws BadRequestException {
    String text = values.size() == 1 && values.getFirst() != null ? values.getFirst() : "";
    if (INTEGER.matcher(text).matches()) {
      int number = Integer.parseInt(text);
      if (least <= number && number <= most) {
        return number;
      }
    }
    throw new BadRequestException(name + " must be an integer from " + least + " to " + most);
  }
}
