package pushbench.location;

import java.io.ByteArrayOutputStream;
import java.util.Optional;
import org.springframework.web.socket.BinaryMessage;
import org.springframework.web.socket.TextMessage;
import org.springframework.web.socket.WebSocketMessage;

/** Assembles messages from their parts. */
class Parts {
  private final int maxBytes;
  private final StringBuilder text = new StringBuilder();
  private final ByteArrayOutputStream binary = new ByteArrayOutputStream(0);
  private int bytes;

  Parts(int maxBytes) {
    this.maxBytes = maxBytes;
  }

  /** Returns the whole message after its last part, unless it is too large. */
  Optional<WebSocketMessage<?>> add(WebSocketMessage<?> part) {
    if (isTooLarge()) {
      return Optional.empty();
    }
    bytes += part.getPayloadLength();
    if (isTooLarge()) {
      return Optional.empty();
    }
    WebSocketMessage<?> whole = null;
    if (part instanceof TextMessage chars) {
      text.append(chars.getPayload());
      whole = part.isLast() ? new TextMessage(text) : null;
    } else if (part instanceof BinaryMessage data) {
      var payload = new byte[data.getPayloadLength()];
      data.getPayload().get(payload);
      binary.writeBytes(payload);
      whole = part.isLast() ? new BinaryMessage(binary.toByteArray()) : null;
    }
    if (part.isLast()) {
      clear();
    }
    return Optional.ofNullable(whole);
  }

  /** True for good once a message has more bytes than allowed. */
  boolean isTooLarge() {
    return bytes > maxBytes;
  }

  private void clear() {
    bytes = 0;
    text.setLength(0);
    binary.reset();
  }
}
