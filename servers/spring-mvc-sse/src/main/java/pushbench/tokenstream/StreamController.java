package pushbench.tokenstream;

import com.fasterxml.jackson.annotation.JsonProperty;
import jakarta.servlet.http.HttpServletRequest;
import java.util.OptionalInt;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.core.task.AsyncTaskExecutor;
import org.springframework.core.task.TaskRejectedException;
import org.springframework.http.CacheControl;
import org.springframework.http.HttpHeaders;
import org.springframework.http.ResponseEntity;
import org.springframework.util.MultiValueMap;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.servlet.mvc.method.annotation.SseEmitter;

@RestController
class StreamController {
  record Metrics(@JsonProperty("active_streams") int activeStreams) {}

  private final Streams streams;
  private final AsyncTaskExecutor executor;
  private final Pacer pacer;

  StreamController(
      Streams streams,
      @Qualifier("applicationTaskExecutor") AsyncTaskExecutor executor,
      Pacer pacer) {
    this.streams = streams;
    this.executor = executor;
    this.pacer = pacer;
  }

  @GetMapping("/stream")
  ResponseEntity<SseEmitter> stream(
      @RequestParam MultiValueMap<String, String> query,
      @RequestHeader HttpHeaders headers,
      HttpServletRequest request)
      throws BadRequestException {
    var wanted = StreamRequest.parse(query.get("pace"), headers.get("Last-Event-ID"));
    var stream = new TokenStream(wanted.first());
    StreamStarter.startLater(request, () -> start(stream, wanted.pace()));
    return ResponseEntity.ok().cacheControl(CacheControl.noCache()).body(stream.emitter());
  }

  private void start(TokenStream stream, OptionalInt pace) {
    streams.add(stream);
    try {
      if (pace.isPresent()) {
        pacer.start(stream, pace.getAsInt());
      } else {
        executor.execute(stream::sendRest);
      }
    } catch (TaskRejectedException e) {
      // The server is about to stop.
      stream.end();
    }
  }

  @GetMapping("/metricz")
  Metrics metricz() {
    return new Metrics(streams.active());
  }
}
