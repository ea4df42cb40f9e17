package pushbench.location;

import org.springframework.http.CacheControl;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.util.MultiValueMap;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.context.request.async.DeferredResult;

@RestController
class PollController {
  private static final String PATH = "/groups/{group}/positions";

  private final Groups groups;
  private final OpenResponses responses;

  PollController(Groups groups, OpenResponses responses) {
    this.groups = groups;
    this.responses = responses;
  }

  @GetMapping(path = PATH, params = "!wait")
  ResponseEntity<News> poll(
      @PathVariable String group, @RequestParam MultiValueMap<String, String> query) {
    var member = new Member(group, Parameters.user(query.get("user")));
    return answer(groups.newsFor(member, Parameters.since("since", query.get("since"))));
  }

  @GetMapping(path = PATH, params = "wait")
  DeferredResult<ResponseEntity<News>> hold(
      @PathVariable String group, @RequestParam MultiValueMap<String, String> query) {
    var member = new Member(group, Parameters.user(query.get("user")));
    var since = Parameters.since("since", query.get("since"));
    var wait = Parameters.wait(query.get("wait"));
    var poll = new HeldPoll(since, wait, () -> groups.newsFor(member, since));
    poll.result()
        .onCompletion(
            () -> {
              groups.leave(member, poll);
              responses.remove(poll);
            });
    groups.listen(member, since, poll);
    responses.add(poll);
    return poll.result();
  }

  /** The type is JSON, whatever the client accepts. */
  static ResponseEntity<News> answer(News news) {
    return ResponseEntity.ok()
        .cacheControl(CacheControl.noStore())
        .contentType(MediaType.APPLICATION_JSON)
        .body(news);
  }
}
