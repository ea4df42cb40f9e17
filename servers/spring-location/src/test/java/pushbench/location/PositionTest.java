package pushbench.location;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.json.JsonMapper;

class PositionTest {
  private static final String POSITION =
      """
      {"lat":52.520008,"lon":-13.404954,"seq":7,"sentAt":9007199254740991,"more":{}}""";

  private final JsonMapper mapper = new JsonMapper();

  @Test
  void readsAPosition() {
    assertThat(parse(POSITION))
        .isEqualTo(new Position("u", 52.520008, -13.404954, 7, 9007199254740991L));
  }

  @Test
  void tellsTheSameNumbersAndNothingElse() {
    assertThat(mapper.readTree(mapper.writeValueAsString(parse(POSITION))))
        .isEqualTo(mapper.readTree(POSITION.replace("\"more\":{}", "\"user\":\"u\"")));
  }

  @ParameterizedTest
  @ValueSource(strings = {"90", "-90", "0", "1e1", "-0.0"})
  void acceptsNumbersOfTheRange(String lat) {
    assertThat(parse(POSITION.replace("52.520008", lat)).lat()).isEqualTo(Double.parseDouble(lat));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "52.520008|90.1|lat must be a number from -90 to 90",
        "52.520008|-91|lat must be a number from -90 to 90",
        "52.520008|1e999|lat must be a number from -90 to 90",
        "52.520008|\"52\"|lat must be a number from -90 to 90",
        "52.520008|null|lat must be a number from -90 to 90",
        "\"lat\"|\"Lat\"|lat must be a number from -90 to 90",
        "-13.404954|180.5|lon must be a number from -180 to 180",
        "-13.404954|[1]|lon must be a number from -180 to 180",
        "7,|-1,|seq must be an integer from 0 to 9007199254740991",
        "7,|0.5,|seq must be an integer from 0 to 9007199254740991",
        "7,|true,|seq must be an integer from 0 to 9007199254740991",
        "9007199254740991|9007199254740992|sentAt must be an integer from 0 to 9007199254740991",
        "9007199254740991|99999999999999999999|sentAt must be an integer from 0 to 9007199254740991",
        "{}}|{}|a body must be a JSON object",
        "{}}|{}} {}|a body must be a JSON object",
        "\"lat\"|lat|a body must be a JSON object",
      })
  void refuses(String part, String fault, String reason) {
    assertThatThrownBy(() -> parse(POSITION.replace(part, fault)))
        .isInstanceOf(RefusedException.class)
        .hasMessage(reason);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "[]", "null", "7", "\"x\""})
  void refusesWhatIsNoObject(String body) {
    assertThatThrownBy(() -> parse(body)).hasMessage("a body must be a JSON object");
  }

  private Position parse(String body) {
    return Position.parse("u", Position.readObject(mapper, body.getBytes(UTF_8)));
  }
}
