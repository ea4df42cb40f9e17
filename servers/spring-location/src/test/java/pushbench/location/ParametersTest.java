package pushbench.location;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ParametersTest {
  @Test
  void readsWhatIsThere() {
    assertThat(Parameters.user(List.of("Az-_09"))).isEqualTo("Az-_09");
    assertThat(Parameters.since("since", null)).isEmpty();
    assertThat(Parameters.since("since", List.of("0"))).hasValue(0);
    assertThat(Parameters.since("since", List.of("9007199254740991")))
        .hasValue(Parameters.MAX_COUNT);
    assertThat(Parameters.wait(List.of("25"))).isEqualTo(Duration.ofSeconds(25));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "-1", "+1", "01", "1.0", "1e1", "\u0663", "9007199254740992", "x"})
  void refusesAVersionThatIsNone(String since) {
    assertThatThrownBy(() -> Parameters.since("since", List.of(since)))
        .isInstanceOf(RefusedException.class)
        .hasMessage("since must be an integer from 0 to 9007199254740991");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "0", "26", "1.5", "9999999999999999"})
  void refusesAWaitOutOfRange(String wait) {
    assertThatThrownBy(() -> Parameters.wait(List.of(wait)))
        .isInstanceOf(RefusedException.class)
        .hasMessage("wait must be an integer from 1 to 25");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "a b", "u.1", "ü", "u/1", "u\n"})
  void refusesABadId(String id) {
    assertThatThrownBy(() -> new Member("g", id)).isInstanceOf(RefusedException.class);
    assertThatThrownBy(() -> new Member(id, "u")).isInstanceOf(RefusedException.class);
  }

  @Test
  void anIdHasAtMost64Characters() {
    new Member("g".repeat(64), "u".repeat(64));
    assertThatThrownBy(() -> new Member("g", "u".repeat(65))).isInstanceOf(RefusedException.class);
  }

  @Test
  void refusesAParameterWithoutValueOrWithTwo() {
    for (var values : List.of(Collections.<String>singletonList(null), List.of("1", "1"))) {
      assertThatThrownBy(() -> Parameters.since("since", values))
          .isInstanceOf(RefusedException.class);
      assertThatThrownBy(() -> Parameters.user(values)).isInstanceOf(RefusedException.class);
    }
    assertThatThrownBy(() -> Parameters.user(null)).isInstanceOf(RefusedException.class);
  }
}
