package pushbench.location;

import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

@RestController
class MetricsController {
  record Metrics(int groups, int listeners) {}

  private final Groups groups;
  private final OpenResponses responses;
  private final OpenSessions sessions;

  MetricsController(Groups groups, OpenResponses responses, OpenSessions sessions) {
    this.groups = groups;
    this.responses = responses;
    this.sessions = sessions;
  }

  @GetMapping("/metricz")
  Metrics metricz() {
    return new Metrics(groups.size(), responses.size() + sessions.size());
  }
}
