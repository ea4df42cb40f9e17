package pushbench.tokenstream;

import com.fasterxml.jackson.annotation.JsonProperty;
import org.springframework.http.CacheControl;
import org.springframework.http.HttpHeaders;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.http.codec.ServerSentEvent;
import org.springframework.util.MultiValueMap;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Flux;

@RestController
class StreamController {
  record Metrics(@JsonProperty("active_streams") int activeStreams) {}

  private final Streams streams;

  StreamController(Streams streams) {
    this.streams = streams;
  }

  @GetMapping("/stream")
  ResponseEntity<Flux<ServerSentEvent<String>>> stream(
      @RequestParam MultiValueMap<String, String> query,
      @RequestHeader HttpHeaders headers,
      ServerWebExchange exchange)
      throws BadRequestException {
    var wanted = StreamRequest.parse(query.get("pace"), headers.get("Last-Event-ID"));
    return ResponseEntity.ok()
        .contentType(MediaType.TEXT_EVENT_STREAM)
        .cacheControl(CacheControl.noCache())
        .body(streams.track(TokenStream.events(wanted), ExchangeEndFilter.endOf(exchange)));
  }

  @GetMapping("/metricz")
  Metrics metricz() {
    return new Metrics(streams.active());
  }
}
