package pushbench.tokenstream;

import java.time.Duration;
import org.springframework.http.codec.ServerSentEvent;
import reactor.core.publisher.Flux;

/** The events of one response. */
final class TokenStream {
  private TokenStream() {}

  static Flux<ServerSentEvent<String>> events(StreamRequest wanted) {
    int count = Text.CHARACTERS.size() - wanted.first();
    var numbers = Flux.range(wanted.first(), count);
    if (wanted.pace().isPresent()) {
      // Ticks at a fixed rate, so that a late character does not delay those after it.
      var period = Duration.ofSeconds(1).dividedBy(wanted.pace().getAsInt());
      var ticks = Flux.interval(Duration.ZERO, period).take(count);
      // Without a buffer an interval fails if a tick is due before the previous one is written.
      numbers = ticks.onBackpressureBuffer().map(tick -> wanted.first() + tick.intValue());
    }
    return numbers.map(TokenStream::event);
  }

  private static ServerSentEvent<String> event(int number) {
    // Spring writes no space after "data:". A client removes one space, also one that belongs to
    // the text.
    return ServerSentEvent.builder(" " + Text.CHARACTERS.get(number))
        .id(Integer.toString(number))
        .build();
  }
}
