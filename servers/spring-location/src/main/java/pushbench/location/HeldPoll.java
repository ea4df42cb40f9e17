package pushbench.location;

import java.time.Duration;
import java.util.OptionalLong;
import java.util.function.Supplier;
import org.springframework.http.ResponseEntity;
import org.springframework.web.context.request.async.DeferredResult;

/** A poll that is answered once there is news, and holds no thread until then. */
class HeldPoll implements Listener, OpenResponses.OpenResponse {
  private final OptionalLong since;
  private final Supplier<News> present;
  private final DeferredResult<ResponseEntity<News>> result;

  /**
   * @param present the current news for the client
   */
  HeldPoll(OptionalLong since, Duration wait, Supplier<News> present) {
    this.since = since;
    this.present = present;
    result = new DeferredResult<>(wait.toMillis());
    result.onTimeout(this::end);
  }

  DeferredResult<ResponseEntity<News>> result() {
    return result;
  }

  /** Nothing is lost after the first answer: the next poll of the client requests it. */
  @Override
  public void tell(News news) {
    boolean knowsVersion = since.isPresent() && since.getAsLong() <= news.version();
    if (!knowsVersion || !news.positions().isEmpty()) {
      answer(news);
    }
  }

  @Override
  public void end() {
    answer(present.get());
  }

  private void answer(News news) {
    result.setResult(PollController.answer(news));
  }
}
