package pushbench.location;

import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Where a user is. */
record Position(String user, double lat, double lon, long seq, long sentAt) {
  private static final int MAX_LAT = 90;
  private static final int MAX_LON = 180;

  /** Reads a JSON object, the form of every body of a client. */
  static JsonNode readObject(JsonMapper mapper, byte[] body) {
    try {
      JsonNode json = mapper.readTree(body);
      if (json.isObject()) {
        return json;
      }
    } catch (JacksonException e) {
      // Refused below.
    }
    throw new RefusedException("a body must be a JSON object");
  }

  /** Reads the position of a user. Other fields are ignored. */
  static Position parse(String user, JsonNode json) {
    return new Position(
        Ids.check("user", user),
        parseNumber(json, "lat", MAX_LAT),
        parseNumber(json, "lon", MAX_LON),
        parseCount(json, "seq"),
        parseCount(json, "sentAt"));
  }

  private static double parseNumber(JsonNode json, String field, int most) {
    double number = json.path(field).isNumber() ? json.path(field).doubleValue() : Double.NaN;
    if (Math.abs(number) <= most) {
      return number;
    }
    throw new RefusedException(field + " must be a number from -" + most + " to " + most);
  }

  private static long parseCount(JsonNode json, String field) {
    JsonNode value = json.path(field);
    if (value.isIntegralNumber() && value.canConvertToLong()) {
      long count = value.longValue();
      if (0 <= count && count <= Parameters.MAX_COUNT) {
        return count;
      }
    }
    throw new RefusedException(field + " must be an integer from 0 to " + Parameters.MAX_COUNT);
  }
}
