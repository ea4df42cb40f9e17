package pushbench.location;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.springframework.web.socket.BinaryMessage;
import org.springframework.web.socket.TextMessage;

class PartsTest {
  private final Parts parts = new Parts(8);

  @Test
  void putsTextsTogether() {
    assertThat(parts.add(new TextMessage("ab", false))).isEmpty();
    assertThat(parts.add(new TextMessage("", false))).isEmpty();
    assertThat(parts.add(new TextMessage("cd", true))).contains(new TextMessage("abcd"));
    assertThat(parts.add(new TextMessage("e", true))).contains(new TextMessage("e"));
  }

  @Test
  void putsBytesTogether() {
    assertThat(parts.add(new BinaryMessage(new byte[] {1, 2}, false))).isEmpty();
    assertThat(parts.add(new BinaryMessage(new byte[] {3}, true)))
        .contains(new BinaryMessage(new byte[] {1, 2, 3}));
  }

  @Test
  void countsBytesOfAMessage() {
    assertThat(parts.add(new TextMessage("éééé", true))).isPresent();
    assertThat(parts.add(new TextMessage("éééé", false))).isEmpty();
    assertThat(parts.isTooLarge()).isFalse();
    assertThat(parts.add(new TextMessage("x", true))).isEmpty();
    assertThat(parts.isTooLarge()).isTrue();
    assertThat(parts.add(new TextMessage("later", true))).isEmpty();
  }
}
