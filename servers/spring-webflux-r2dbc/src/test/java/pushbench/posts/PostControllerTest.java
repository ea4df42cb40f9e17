package pushbench.posts;

import static org.mockito.ArgumentMatchers.any;
import static org.mockito.BDDMockito.given;
import static org.springframework.http.MediaType.APPLICATION_JSON;
import static org.springframework.http.MediaType.TEXT_PLAIN;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.webflux.test.autoconfigure.WebFluxTest;
import org.springframework.context.annotation.Import;
import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.http.HttpMethod;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.test.context.bean.override.mockito.MockitoBean;
import org.springframework.test.web.reactive.server.WebTestClient;
import org.springframework.test.web.reactive.server.WebTestClient.ResponseSpec;
import org.springframework.transaction.CannotCreateTransactionException;
import reactor.core.publisher.Mono;

@WebFluxTest(PostController.class)
@Import(JsonConfiguration.class)
class PostControllerTest {
  private static final int MAX_BODY_BYTES = 64 * 1024;

  private static final String BODY =
      "a body must be a JSON object with the strings title and content";
  private static final String TITLE = "title must be a string of 1 to 200 characters";
  private static final String CONTENT = "content must be a string of 1 to 10000 characters";

  @Autowired private WebTestClient client;
  @MockitoBean private PostRepository posts;

  @Test
  void savesAPostAndSaysWhereItIs() {
    Post post = new Post(null, "café", "\uD83D\uDE80");
    given(posts.save(post)).willReturn(Mono.just(post.withNo(7L)));
    post(APPLICATION_JSON, "{'title':'café','content':'\uD83D\uDE80','more':[]}")
        .expectStatus()
        .isCreated()
        .expectHeader()
        .valueEquals("Location", "/post/7")
        .expectBody()
        .isEmpty();
  }

  @Test
  void readsAPost() {
    given(posts.findById(7L)).willReturn(Mono.just(new Post(7L, "t", "c")));
    client
        .get()
        .uri("/post/7")
        .exchange()
        .expectStatus()
        .isOk()
        .expectBody()
        .json("{\"no\":7,\"title\":\"t\",\"content\":\"c\"}");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "``|" + BODY,
        "{|" + BODY,
        "{'title':'t','content':'c'} {}|" + BODY,
        "[]|" + BODY,
        "null|" + BODY,
        "{'title':1,'content':'c'}|" + BODY,
        "{'title':1.5,'content':'c'}|" + BODY,
        "{'title':true,'content':'c'}|" + BODY,
        "{'title':['t'],'content':'c'}|" + BODY,
        "{'title':'t','content':{}}|" + BODY,
        "{'content':'c'}|" + TITLE,
        "{'title':'','content':'c'}|" + TITLE,
        "{'title':null,'content':'c'}|" + TITLE,
        "{'Title':'t','content':'c'}|" + TITLE,
        "{'title':'\\ud83d','content':'c'}|" + TITLE,
        "{'title':'t'}|" + CONTENT,
        "{}|" + CONTENT + ", " + TITLE,
      })
  void refusesABadPost(String body, String reason) {
    assertRefused(post(APPLICATION_JSON, body), HttpStatus.BAD_REQUEST, reason);
  }

  @Test
  void refusesWhatIsNotJson() {
    ResponseSpec response = post(TEXT_PLAIN, "{'title':'t','content':'c'}");
    assertRefused(
        response, HttpStatus.UNSUPPORTED_MEDIA_TYPE, "the Content-Type must be application/json");
  }

  @Test
  void refusesABodyAboveTheLimit() {
    String post = "{'title':'t','content':'c'}";
    String padding = " ".repeat(MAX_BODY_BYTES - post.length());
    given(posts.save(any())).willReturn(Mono.just(new Post(7L, "t", "c")));
    post(APPLICATION_JSON, post + padding).expectStatus().isCreated();
    assertRefused(
        post(APPLICATION_JSON, post + padding + " "),
        HttpStatus.CONTENT_TOO_LARGE,
        "a body must have at most 65536 bytes");
  }

  @ParameterizedTest
  @CsvSource({"/", "/posts", "/post/", "/post/x", "/post/-1", "/post/1/2", "/post/1"})
  void findsNothingElse(String path) {
    given(posts.findById(1L)).willReturn(Mono.empty());
    assertRefused(client.get().uri(path).exchange(), HttpStatus.NOT_FOUND, "not found");
  }

  @ParameterizedTest
  @CsvSource({"PUT, /post, POST", "GET, /post, POST", "DELETE, /post/1, GET"})
  void refusesOtherMethods(String method, String path, String allowed) {
    ResponseSpec response = client.method(HttpMethod.valueOf(method)).uri(path).exchange();
    assertRefused(response, HttpStatus.METHOD_NOT_ALLOWED, "method not allowed");
    response.expectHeader().valueEquals("Allow", allowed);
  }

  @Test
  void saysThatTheDatabaseDoesNotAnswer() {
    given(posts.findById(7L)).willReturn(Mono.error(new CannotCreateTransactionException("away")));
    given(posts.save(any())).willReturn(Mono.error(new DataAccessResourceFailureException("away")));
    HttpStatus status = HttpStatus.SERVICE_UNAVAILABLE;
    String reason = "the database does not answer";
    assertRefused(client.get().uri("/post/7").exchange(), status, reason);
    assertRefused(post(APPLICATION_JSON, "{'title':'t','content':'c'}"), status, reason);
  }

  /** Posts a body in which ' stands for ". */
  private ResponseSpec post(MediaType type, String body) {
    return client
        .post()
        .uri("/post")
        .contentType(type)
        .bodyValue(body.replace('\'', '"'))
        .exchange();
  }

  private static void assertRefused(ResponseSpec response, HttpStatus status, String reason) {
    response
        .expectStatus()
        .isEqualTo(status)
        .expectHeader()
        .contentType(APPLICATION_JSON)
        .expectBody(String.class)
        .isEqualTo("{\"error\":\"" + reason + "\"}");
  }
}
