package pushbench.posts;

import static org.assertj.core.api.Assertions.assertThat;

import jakarta.validation.ConstraintViolation;
import jakarta.validation.Validation;
import jakarta.validation.Validator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.NullAndEmptySource;
import org.junit.jupiter.params.provider.ValueSource;

class TextTest {
  private static final Validator VALIDATOR =
      Validation.buildDefaultValidatorFactory().getValidator();

  private static final String ROCKET = "\uD83D\uDE80";

  @Test
  void countsCodePointsAndNotSurrogates() {
    assertThat(violations(ROCKET.repeat(200))).isEmpty();
    assertThat(violations(ROCKET.repeat(200) + "x")).isNotEmpty();
  }

  @ParameterizedTest
  @NullAndEmptySource
  @ValueSource(strings = {"\uD83D", "x\uDE80", "\uDE80\uD83D"})
  void refusesWhatIsNoStringOfCharacters(String title) {
    assertThat(violations(title)).containsExactly("must be a string of 1 to 200 characters");
  }

  private static Iterable<String> violations(String title) {
    return VALIDATOR.validate(new NewPost(title, "content")).stream()
        .map(ConstraintViolation::getMessage)
        .toList();
  }
}
