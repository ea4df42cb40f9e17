package pushbench.tokenstream;

import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import org.springframework.web.servlet.mvc.method.annotation.SseEmitter;
import org.springframework.web.servlet.mvc.method.annotation.SseEmitter.SseEventBuilder;

/** One response. One thread at a time sends; any thread may end it. */
class TokenStream {
  /** The request has no timeout of its own, because its pace decides how long it takes. */
  private static final long NO_TIMEOUT = 0;

  private final SseEmitter emitter = new SseEmitter(NO_TIMEOUT);
  private final CompletableFuture<Void> over = new CompletableFuture<>();
  private int next;

  TokenStream(int first) {
    next = first;
    emitter.onCompletion(() -> over.complete(null));
  }

  SseEmitter emitter() {
    return emitter;
  }

  /** True after the last character, and once the client has left or the server stops. */
  boolean isOver() {
    return over.isDone();
  }

  /** Runs the callback when the stream is over, or now if it already is. */
  void onOver(Runnable callback) {
    over.thenRun(callback);
  }

  void sendRest() {
    while (!isOver()) {
      sendNext();
    }
  }

  /** Sends the next character, or ends the response after the last one. */
  void sendNext() {
    if (next < Text.CHARACTERS.size()) {
      // SseEmitter writes no space after "data:". A client removes one space, also one that belongs
      // to the text.
      String data = " " + Text.CHARACTERS.get(next);
      send(SseEmitter.event().id(Integer.toString(next)).data(data));
      next++;
    }
    if (next == Text.CHARACTERS.size()) {
      end();
    }
  }

  /**
   * Sends a comment, which a client ignores. The only sign that the client has left is that this
   * fails.
   */
  void sendComment() {
    send(SseEmitter.event().comment(""));
  }

  /** Ends the response, whether or not every character was sent. */
  void end() {
    over.complete(null);
    emitter.complete();
  }

  private void send(SseEventBuilder event) {
    if (isOver()) {
      return;
    }
    try {
      emitter.send(event);
    } catch (IOException | IllegalStateException e) {
      // The client has left, and the container ends the request, or another thread has ended it.
      over.complete(null);
    }
  }
}
