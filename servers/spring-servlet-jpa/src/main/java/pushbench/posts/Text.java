package pushbench.posts;

import jakarta.validation.Constraint;
import jakarta.validation.ConstraintValidator;
import jakarta.validation.ConstraintValidatorContext;
import jakarta.validation.Payload;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * The string is present and has 1 to {@link #max} code points, which {@code @Size} cannot count.
 */
@Target(ElementType.FIELD)
@Retention(RetentionPolicy.RUNTIME)
@Constraint(validatedBy = Text.Validator.class)
@interface Text {
  int max();

  String message() default "must be a string of 1 to {max} characters";

  Class<?>[] groups() default {};

  Class<? extends Payload>[] payload() default {};

  class Validator implements ConstraintValidator<Text, String> {
    private int max;

    @Override
    public void initialize(Text text) {
      max = text.max();
    }

    @Override
    public boolean isValid(String value, ConstraintValidatorContext context) {
      return value != null
          && !value.isEmpty()
          && value.codePointCount(0, value.length()) <= max
          && value.codePoints().noneMatch(Validator::isHalf);
    }

    /** Half of a surrogate pair is a character in JSON, but cannot be stored as UTF-8. */
    private static boolean isHalf(int codePoint) {
      return Character.getType(codePoint) == Character.SURROGATE;
    }
  }
}
