package pushbench.tokenstream;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class PacedStreamTest {
  private static class RecordedStream extends TokenStream {
    final List<String> sent = new ArrayList<>();

    RecordedStream() {
      super(0);
    }

    @Override
    void sendNext() {
      sent.add("character");
    }

    @Override
    void sendComment() {
      sent.add("comment");
    }
  }

  @Test
  void aFastStreamHasCharactersOnly() {
    assertThat(written(50, 3)).containsExactly("character", "character", "character");
    assertThat(new PacedStream(new RecordedStream(), 50).period()).isEqualTo(Duration.ofMillis(20));
  }

  @Test
  void aSlowStreamHasCommentsBetween() {
    assertThat(written(1, 4)).containsExactly("character", "comment", "comment", "character");
    assertThat(written(2, 3)).containsExactly("character", "comment", "character");
  }

  @Test
  void everyStreamWritesThreeTimesASecond() {
    for (int pace = 1; pace <= 1000; pace++) {
      assertThat(new PacedStream(new RecordedStream(), pace).period())
          .isLessThan(Duration.ofMillis(334));
    }
  }

  private static List<String> written(int pace, int ticks) {
    var stream = new RecordedStream();
    var paced = new PacedStream(stream, pace);
    for (int tick = 0; tick < ticks; tick++) {
      paced.run();
    }
    return stream.sent;
  }
}
