package pushbench.location;

import static org.assertj.core.api.Assertions.assertThat;
import static org.springframework.http.MediaType.APPLICATION_JSON;
import static org.springframework.http.MediaType.TEXT_PLAIN;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.webmvc.test.autoconfigure.WebMvcTest;
import org.springframework.context.annotation.Import;
import org.springframework.http.HttpMethod;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.test.annotation.DirtiesContext;
import org.springframework.test.web.servlet.assertj.MockMvcTester;
import org.springframework.test.web.servlet.assertj.MvcTestResult;

@WebMvcTest({PositionController.class, PollController.class, EventController.class})
@Import({Groups.class, OpenResponses.class, EventStreams.class})
@DirtiesContext(classMode = DirtiesContext.ClassMode.AFTER_EACH_TEST_METHOD)
class ControllersTest {
  private static final String BODY = "{\"lat\":1.5,\"lon\":2.0,\"seq\":3,\"sentAt\":4}";
  private static final String TOLD =
      "{\"user\":\"a\",\"lat\":1.5,\"lon\":2.0,\"seq\":3,\"sentAt\":4}";
  private static final String NEWS = "{\"version\":1,\"positions\":[" + TOLD + "]}";

  @Autowired private MockMvcTester client;
  @Autowired private OpenResponses responses;

  @Test
  void aPollTellsWhatWasPut() {
    assertThat(put("/groups/g/positions/a", APPLICATION_JSON, BODY))
        .hasStatus(HttpStatus.NO_CONTENT)
        .hasBodyTextEqualTo("");
    MvcTestResult polled = get("/groups/g/positions?user=b");
    assertThat(polled).hasStatusOk().hasHeader("Cache-Control", "no-store");
    assertThat(polled).hasContentType(APPLICATION_JSON).bodyJson().isStrictlyEqualTo(NEWS);
    assertThat(get("/groups/g/positions?user=b&since=1"))
        .bodyText()
        .isEqualTo("{\"version\":1,\"positions\":[]}");
  }

  @Test
  void aHeldPollIsAnsweredOnceThereIsNews() {
    put("/groups/g/positions/b", APPLICATION_JSON, BODY);
    var held = hold("since=1");
    put("/groups/g/positions/b", APPLICATION_JSON, BODY);
    assertThat(held.getRequest().isAsyncStarted()).isTrue();
    assertThat(responses.size()).isEqualTo(1);
    put("/groups/g/positions/a", APPLICATION_JSON, BODY);
    assertThat(held.getMvcResult().getAsyncResult(1000))
        .isEqualTo(PollController.answer(new News(3, List.of(new Position("a", 1.5, 2, 3, 4)))));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "since=2"})
  void aPollIsNotHeldWithoutAVersionOfTheGroup(String since) {
    put("/groups/g/positions/b", APPLICATION_JSON, BODY);
    assertThat(hold(since).getMvcResult().getAsyncResult(1000))
        .isEqualTo(PollController.answer(new News(1, List.of())));
  }

  @Test
  void theStopEndsHeldPollsAndRefusesNewOnes() {
    put("/groups/g/positions/b", APPLICATION_JSON, BODY);
    var held = hold("since=1");
    responses.stop();
    var empty = PollController.answer(new News(1, List.of()));
    assertThat(held.getMvcResult().getAsyncResult(1000)).isEqualTo(empty);
    assertThat(hold("since=1"))
        .hasStatus(HttpStatus.SERVICE_UNAVAILABLE)
        .bodyText()
        .isEqualTo("{\"error\":\"the server is stopping\"}");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/groups/g/positions",
        "/groups/g/positions?user=",
        "/groups/g/positions?user=a.b",
        "/groups/g/positions?user=a&user=a",
        "/groups/g.1/positions?user=a",
        "/groups/g/positions?user=a&since=",
        "/groups/g/positions?user=a&since=-1",
        "/groups/g/positions?user=a&wait=0",
        "/groups/g/positions?user=a&wait",
        "/groups/g/positions?wait=5",
        "/groups/g/events",
        "/groups/g.1/events?user=a"
      })
  void refusesBadQuestions(String uri) {
    assertRefused(get(uri), HttpStatus.BAD_REQUEST);
  }

  @Test
  void refusesBadPositions() {
    String path = "/groups/g/positions/a";
    assertRefused(put(path, APPLICATION_JSON, ""), HttpStatus.BAD_REQUEST);
    assertRefused(put(path, APPLICATION_JSON, "{}"), HttpStatus.BAD_REQUEST);
    assertRefused(put(path + ".b", APPLICATION_JSON, BODY), HttpStatus.BAD_REQUEST);
    assertRefused(put(path, TEXT_PLAIN, BODY), HttpStatus.UNSUPPORTED_MEDIA_TYPE);
    assertRefused(
        put(path, APPLICATION_JSON, BODY + " ".repeat(64 * 1024)), HttpStatus.CONTENT_TOO_LARGE);
    String padded = BODY + " ".repeat(64 * 1024 - BODY.length());
    assertThat(put(path, APPLICATION_JSON, padded)).hasStatus(HttpStatus.NO_CONTENT);
  }

  @ParameterizedTest
  @CsvSource({
    "POST, /groups/g/positions/a, PUT",
    "PUT, /groups/g/positions, GET",
    "POST, /groups/g/events, GET"
  })
  void refusesOtherMethods(String method, String path, String allowed) {
    MvcTestResult result = client.method(HttpMethod.valueOf(method)).uri(path).exchange();
    assertRefused(result, HttpStatus.METHOD_NOT_ALLOWED);
    assertThat(result).hasHeader("Allow", allowed);
  }

  @ParameterizedTest
  @ValueSource(strings = {"/", "/groups", "/groups/g", "/groups/g/positions/a/b"})
  void findsNothingElse(String path) {
    assertRefused(get(path), HttpStatus.NOT_FOUND);
  }

  private MvcTestResult put(String path, MediaType type, String body) {
    return client.put().uri(path).contentType(type).content(body).exchange();
  }

  private MvcTestResult get(String uri) {
    return client.get().uri(uri).exchange();
  }

  /** Polls as user b, and does not wait for the answer. */
  private MvcTestResult hold(String since) {
    return client.get().uri("/groups/g/positions?user=b&wait=25&" + since).asyncExchange();
  }

  private static void assertRefused(MvcTestResult result, HttpStatus status) {
    assertThat(result).hasStatus(status).hasContentType(APPLICATION_JSON);
    assertThat(result).bodyJson().extractingPath("error").asString().isNotBlank();
  }
}
