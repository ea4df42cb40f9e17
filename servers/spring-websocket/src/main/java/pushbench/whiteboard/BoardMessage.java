package pushbench.whiteboard;

import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The messages of a client. They do not depend on boards or connections. */
record BoardMessage(Type type, String boardId, String userId) {
  enum Type {
    JOIN,
    DRAW,
    LEAVE
  }

  private static final int MAX_ID_CHARACTERS = 64;

  /** Fields beyond the known ones are allowed. */
  static BoardMessage parse(JsonMapper mapper, String text) throws BadMessageException {
    JsonNode message = parseJson(mapper, text);
    check(message.isObject(), "a message must be a JSON object");
    Type type =
        switch (message.path("type").stringValue("")) {
          case "join" -> Type.JOIN;
          case "draw" -> Type.DRAW;
          case "leave" -> Type.LEAVE;
          default -> throw new BadMessageException("type must be join, draw or leave");
        };
    String boardId = parseId(message, "boardId");
    String userId = parseId(message, "userId");
    if (type == Type.DRAW) {
      check(isCount(message.path("seq")), "seq must be an integer of at least 0");
      check(isCount(message.path("sentAt")), "sentAt must be an integer of at least 0");
      check(
          isStroke(message.path("stroke")), "stroke must be a non-empty array of [number, number]");
    }
    return new BoardMessage(type, boardId, userId);
  }

  private static JsonNode parseJson(JsonMapper mapper, String text) throws BadMessageException {
    try {
      return mapper.readTree(text);
    } catch (JacksonException e) {
      throw new BadMessageException("a message must be JSON");
    }
  }

  private static String parseId(JsonNode message, String field) throws BadMessageException {
    String id = message.path(field).stringValue("");
    int characters = id.codePointCount(0, id.length());
    check(
        characters >= 1 && characters <= MAX_ID_CHARACTERS,
        field + " must be a string of 1 to " + MAX_ID_CHARACTERS + " characters");
    return id;
  }

  private static boolean isCount(JsonNode value) {
    return value.isIntegralNumber() && value.bigIntegerValue().signum() >= 0;
  }

  private static boolean isStroke(JsonNode value) {
    return value.isArray()
        && !value.isEmpty()
        && value.valueStream().allMatch(BoardMessage::isPoint);
  }

  private static boolean isPoint(JsonNode value) {
    return value.isArray() && value.size() == 2 && isFinite(value.get(0)) && isFinite(value.get(1));
  }

  /** JSON has no infinity, but 1e999 becomes one. */
  private static boolean isFinite(JsonNode value) {
    return Double.isFinite(value.doubleValue(Double.NaN));
  }

  private static void check(boolean holds, String reason) throws BadMessageException {
    if (!holds) {
      throw new BadMessageException(reason);
    }
  }
}
