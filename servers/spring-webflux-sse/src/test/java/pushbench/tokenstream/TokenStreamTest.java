package pushbench.tokenstream;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;
import org.springframework.http.codec.ServerSentEvent;
import reactor.core.publisher.Flux;
import reactor.test.StepVerifier;

class TokenStreamTest {
  private static Flux<String> ids(int first, OptionalInt pace) {
    return TokenStream.events(new StreamRequest(first, pace)).map(ServerSentEvent::id);
  }

  @Test
  void eachCharacterIsAnEvent() {
    var data =
        TokenStream.events(new StreamRequest(0, OptionalInt.empty()))
            .map(ServerSentEvent::data)
            .toIterable();
    assertThat(data).containsExactlyElementsOf(Text.CHARACTERS.stream().map(c -> " " + c).toList());
  }

  @Test
  void aStreamBeginsAtItsFirstCharacter() {
    StepVerifier.create(ids(211, OptionalInt.empty())).expectNext("211", "212").verifyComplete();
    StepVerifier.create(ids(213, OptionalInt.empty())).verifyComplete();
  }

  @Test
  void aPacedStreamSendsTheFirstCharacterAtOnceAndOthersWhenTheyAreDue() {
    StepVerifier.withVirtualTime(() -> ids(210, OptionalInt.of(50)))
        .expectSubscription()
        .expectNext("210")
        .expectNoEvent(Duration.ofMillis(19))
        .thenAwait(Duration.ofMillis(1))
        .expectNext("211")
        .expectNoEvent(Duration.ofMillis(19))
        .thenAwait(Duration.ofMillis(1))
        .expectNext("212")
        .verifyComplete();
  }

  @Test
  void aReaderThatWaitsGetsWhatBecameDueMeanwhile() {
    StepVerifier.withVirtualTime(() -> ids(210, OptionalInt.of(50)), 1)
        .expectNext("210")
        .thenAwait(Duration.ofSeconds(1))
        .thenRequest(2)
        .expectNext("211", "212")
        .verifyComplete();
  }
}
