package pushbench.location;

import org.springframework.http.CacheControl;
import org.springframework.http.HttpHeaders;
import org.springframework.http.ResponseEntity;
import org.springframework.util.MultiValueMap;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.servlet.mvc.method.annotation.SseEmitter;
import tools.jackson.databind.json.JsonMapper;

@RestController
class EventController {
  private static final String LAST_EVENT_ID = "Last-Event-ID";

  private final Groups groups;
  private final OpenResponses responses;
  private final EventStreams streams;
  private final JsonMapper mapper;

  EventController(Groups groups, OpenResponses responses, EventStreams streams, JsonMapper mapper) {
    this.groups = groups;
    this.responses = responses;
    this.streams = streams;
    this.mapper = mapper;
  }

  @GetMapping("/groups/{group}/events")
  ResponseEntity<SseEmitter> events(
      @PathVariable String group,
      @RequestParam MultiValueMap<String, String> query,
      @RequestHeader HttpHeaders headers) {
    var member = new Member(group, Parameters.user(query.get("user")));
    var since = Parameters.since(LAST_EVENT_ID, headers.get(LAST_EVENT_ID));
    var stream = new EventStream(mapper, System::nanoTime);
    stream.onOver(
        () -> {
          groups.leave(member, stream);
          streams.remove(stream);
          responses.remove(stream);
        });
    groups.listen(member, since, stream);
    streams.add(stream);
    responses.add(stream);
    return ResponseEntity.ok().cacheControl(CacheControl.noCache()).body(stream.emitter());
  }
}
