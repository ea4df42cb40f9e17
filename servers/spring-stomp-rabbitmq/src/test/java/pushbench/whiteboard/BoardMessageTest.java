package pushbench.whiteboard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.json.JsonMapper;

class BoardMessageTest {
  private static final String DRAW =
      """
      {"type":"draw","boardId":"b","userId":"u","seq":0,"sentAt":1,"stroke":[[1,-2.5]],"more":{}}\
      """;

  private final JsonMapper mapper = new JsonMapper();

  @Test
  void acceptsDrawsAndJoins() throws BadMessageException {
    assertThat(BoardMessage.parse(mapper, DRAW)).isEqualTo(new BoardMessage("b", "u"));
    BoardMessage.parse(mapper, "{\"type\":\"join\",\"boardId\":\"b\",\"userId\":\"u\"}");
  }

  @Test
  void countsCharactersOfIdsAndNotTheirHalves() throws BadMessageException {
    String brushes = "\uD83D\uDD8C".repeat(64);
    BoardMessage.parse(mapper, DRAW.replace("\"u\"", "\"" + brushes + "\""));
    assertRefused(DRAW.replace("\"u\"", "\"" + brushes + "x\""));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "\"type\":\"draw\"|\"type\":\"leave\"",
        "\"b\"|7",
        "\"b\"|\"\"",
        "\"u\"|null",
        "\"seq\":0|\"seq\":-1",
        "\"seq\":0|\"seq\":0.5",
        "\"seq\":0|\"seq\":\"0\"",
        "\"sentAt\":1|\"sentAt\":true",
        "[[1,-2.5]]|[]",
        "[[1,-2.5]]|[[1]]",
        "[[1,-2.5]]|[[1,null]]",
        "[[1,-2.5]]|[[1,1e999]]",
        "{}}|{}",
        "{}}|{}} {}",
      })
  void refuses(String fault) {
    String[] change = fault.split("\\|");
    assertRefused(DRAW.replace(change[0], change[1]));
  }

  private void assertRefused(String text) {
    assertThatThrownBy(() -> BoardMessage.parse(mapper, text))
        .isInstanceOf(BadMessageException.class);
  }
}
