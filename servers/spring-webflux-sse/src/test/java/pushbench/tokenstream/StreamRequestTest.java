package pushbench.tokenstream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Collections;
import java.util.List;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class StreamRequestTest {
  private static final int LAST_ID = Text.CHARACTERS.size() - 1;

  @Test
  void withoutParametersItIsTheWholeTextWithoutPause() throws Exception {
    assertThat(StreamRequest.parse(null, null))
        .isEqualTo(new StreamRequest(0, OptionalInt.empty()));
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 50, 1000})
  void aPaceInRangeIsAccepted(int pace) throws Exception {
    assertThat(StreamRequest.parse(List.of("" + pace), null).pace()).hasValue(pace);
  }

  @Test
  void aStreamBeginsAfterTheLastEvent() throws Exception {
    assertThat(StreamRequest.parse(null, List.of("0")).first()).isEqualTo(1);
    assertThat(StreamRequest.parse(null, List.of("" + LAST_ID)).first()).isEqualTo(LAST_ID + 1);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "0", "1001", "-1", "+5", "05", "1.5", "a", "\u0663", "99999999999"})
  void aPaceThatIsNoIntegerInRangeIsRefused(String pace) {
    assertThatThrownBy(() -> StreamRequest.parse(List.of(pace), null))
        .isInstanceOf(BadRequestException.class)
        .hasMessage("pace must be an integer from 1 to 1000");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "213", "-1", "007", "1.0", "a", "1, 2"})
  void aLastEventIdThatIsNoIntegerInRangeIsRefused(String id) {
    assertThatThrownBy(() -> StreamRequest.parse(null, List.of(id)))
        .isInstanceOf(BadRequestException.class)
        .hasMessage("Last-Event-ID must be an integer from 0 to 212");
  }

  @Test
  void aParameterWithoutValueOrWithTwoIsRefused() {
    for (var values : List.of(Collections.<String>singletonList(null), List.of("1", "1"))) {
      assertThatThrownBy(() -> StreamRequest.parse(values, null))
          .isInstanceOf(BadRequestException.class);
    }
  }
}
