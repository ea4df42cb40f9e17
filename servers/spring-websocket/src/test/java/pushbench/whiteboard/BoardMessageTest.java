package pushbench.whiteboard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.json.JsonMapper;

class BoardMessageTest {
  private static final JsonMapper MAPPER = new JsonMapper();

  private static final String DRAW =
      """
      {"type":"draw","boardId":"b","userId":"u","seq":0,"sentAt":1,"stroke":[[1,-2.5]],"more":{}}\
      """;

  @Test
  void acceptsEachTypeWithFieldsBeyondTheKnownOnes() throws BadMessageException {
    assertThat(parse(DRAW)).isEqualTo(new BoardMessage(BoardMessage.Type.DRAW, "b", "u"));
    assertThat(parse(DRAW.replace("draw", "join")).type()).isEqualTo(BoardMessage.Type.JOIN);
    assertThat(parse(DRAW.replace("draw", "leave")).type()).isEqualTo(BoardMessage.Type.LEAVE);
  }

  @Test
  void acceptsIntegersOfAnySize() throws BadMessageException {
    parse(DRAW.replace("\"seq\":0", "\"seq\":1" + "0".repeat(30)));
  }

  @Test
  void countsTheCharactersOfAnIdAndNotItsSurrogates() throws BadMessageException {
    String brushes = "\uD83D\uDD8C".repeat(64);
    assertThat(parse(DRAW.replace("\"b\"", "\"" + brushes + "\"")).boardId()).isEqualTo(brushes);
    assertRefused(DRAW.replace("\"b\"", "\"" + brushes + "x\""), "boardId");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "draw", "[]", "null", "{", "{} {}"})
  void refusesWhatIsNotAJsonObject(String text) {
    assertRefused(text, "");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ' ',
      quoteCharacter = '\'',
      value = {
        "type \"draw\" \"paint\"",
        "type \"draw\" 1",
        "boardId \"b\" 7",
        "boardId \"b\" \"\"",
        "userId \"u\" null",
        "seq 0 -1",
        "seq 0 0.5",
        "seq 0 \"0\"",
        "sentAt 1 true",
        "stroke [[1,-2.5]] []",
        "stroke [[1,-2.5]] {}",
        "stroke [[1,-2.5]] [1,2]",
        "stroke [[1,-2.5]] [[1]]",
        "stroke [[1,-2.5]] [[1,2,3]]",
        "stroke [[1,-2.5]] [[1,2],[\"1\",2]]",
        "stroke [[1,-2.5]] [[1,1e999]]",
      })
  void refusesABadField(String field, String good, String bad) {
    String name = "\"" + field + "\":";
    assertThat(DRAW).contains(name + good);
    assertRefused(DRAW.replace(name + good, name + bad), field);
  }

  private static BoardMessage parse(String text) throws BadMessageException {
    return BoardMessage.parse(MAPPER, text);
  }

  private static void assertRefused(String text, String reason) {
    assertThatExceptionOfType(BadMessageException.class)
        .isThrownBy(() -> parse(text))
        .withMessageContaining(reason);
  }
}
