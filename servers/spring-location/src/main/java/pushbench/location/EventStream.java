package pushbench.location;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongSupplier;
import org.springframework.web.servlet.mvc.method.annotation.SseEmitter;
import org.springframework.web.servlet.mvc.method.annotation.SseEmitter.SseEventBuilder;
import tools.jackson.databind.json.JsonMapper;

/** A stream of news to one client. */
class EventStream implements Listener, OpenResponses.OpenResponse {
  /** The client decides how long it takes. */
  private static final long NO_TIMEOUT = 0;

  private static final long QUIET = Duration.ofMillis(600).toNanos();
  private static final int COMMENT_BYTES = 3;

  private final JsonMapper mapper;
  private final LongSupplier clock;
  private final SseEmitter emitter = new SseEmitter(NO_TIMEOUT);
  private final CompletableFuture<Void> over = new CompletableFuture<>();
  private final Outbox outbox = new Outbox(this::setOver, emitter::complete);
  private volatile long lastSent;

  EventStream(JsonMapper mapper, LongSupplier clock) {
    this.mapper = mapper;
    this.clock = clock;
    lastSent = clock.getAsLong();
    emitter.onCompletion(this::setOver);
  }

  SseEmitter emitter() {
    return emitter;
  }

  /** Runs the callback when the client has left, does not read, or the stream has ended. */
  void onOver(Runnable callback) {
    over.thenRun(callback);
  }

  @Override
  public void tell(News news) {
    String json = mapper.writeValueAsString(news);
    send(json.length(), SseEmitter.event().id(Long.toString(news.version())).data(json));
  }

  /** Sends a comment, which the client ignores, if nothing was sent for a while. */
  void commentWhenQuiet() {
    if (outbox.isEmpty() && clock.getAsLong() - lastSent >= QUIET) {
      send(COMMENT_BYTES, SseEmitter.event().comment(""));
    }
  }

  /** Ends the response after what is queued. */
  @Override
  public void end() {
    outbox.add(0, emitter::complete);
  }

  private void setOver() {
    over.complete(null);
  }

  private void send(int bytes, SseEventBuilder event) {
    lastSent = clock.getAsLong();
    outbox.add(bytes, () -> emitter.send(event));
  }
}
