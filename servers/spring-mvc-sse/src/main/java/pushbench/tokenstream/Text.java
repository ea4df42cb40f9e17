package pushbench.tokenstream;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;

/** The text that is streamed. */
final class Text {
  /** The code points of the text: one of them can be two chars. */
  static final List<String> CHARACTERS = read();

  private Text() {}

  private static List<String> read() {
    try (var file = Text.class.getResourceAsStream("/text.txt")) {
      return new String(file.readAllBytes(), UTF_8)
          .codePoints()
          .mapToObj(Character::toString)
          .toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
