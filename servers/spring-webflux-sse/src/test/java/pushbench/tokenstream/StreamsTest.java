package pushbench.tokenstream;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Sinks;
import reactor.test.StepVerifier;

class StreamsTest {
  private final Streams streams = new Streams();
  private final Sinks.Empty<Void> end = Sinks.empty();
  private final Flux<Object> stream = streams.track(Flux.never(), end.asMono());

  @Test
  void aStreamIsActiveUntilItsClientLeaves() {
    var subscription = stream.subscribe();
    assertThat(streams.active()).isEqualTo(1);
    subscription.dispose();
    assertThat(streams.active()).isZero();
  }

  @Test
  void streamsEndWhenTheServerStops() {
    StepVerifier.create(stream).then(streams::stop).verifyComplete();
    assertThat(streams.active()).isZero();
  }

  @Test
  void aStreamEndsWithItsExchange() {
    StepVerifier.create(stream).then(end::tryEmitEmpty).verifyComplete();
    assertThat(streams.active()).isZero();
  }
}
