package pushbench.location;

import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PutMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;
import tools.jackson.databind.json.JsonMapper;

@RestController
class PositionController {
  private final Groups groups;
  private final JsonMapper mapper;

  PositionController(Groups groups, JsonMapper mapper) {
    this.groups = groups;
    this.mapper = mapper;
  }

  @PutMapping(
      path = "/groups/{group}/positions/{user}",
      consumes = MediaType.APPLICATION_JSON_VALUE)
  @ResponseStatus(HttpStatus.NO_CONTENT)
  void put(@PathVariable String group, @PathVariable String user, @RequestBody byte[] body) {
    var member = new Member(group, user);
    groups.put(member.group(), Position.parse(user, Position.readObject(mapper, body)));
  }
}
