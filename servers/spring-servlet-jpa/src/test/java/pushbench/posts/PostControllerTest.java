package pushbench.posts;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.argThat;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.mock;
import static org.springframework.http.MediaType.APPLICATION_JSON;
import static org.springframework.http.MediaType.TEXT_PLAIN;

import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.webmvc.test.autoconfigure.WebMvcTest;
import org.springframework.context.annotation.Import;
import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.http.HttpMethod;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.test.context.bean.override.mockito.MockitoBean;
import org.springframework.test.web.servlet.assertj.MockMvcTester;
import org.springframework.test.web.servlet.assertj.MvcTestResult;
import org.springframework.transaction.CannotCreateTransactionException;

@WebMvcTest(PostController.class)
@Import(JsonConfiguration.class)
class PostControllerTest {
  private static final int MAX_BODY_BYTES = 64 * 1024;

  private static final String BODY =
      "a body must be a JSON object with the strings title and content";
  private static final String TITLE = "title must be a string of 1 to 200 characters";
  private static final String CONTENT = "content must be a string of 1 to 10000 characters";

  @Autowired private MockMvcTester client;
  @MockitoBean private PostRepository posts;

  @Test
  void savesAPostAndSaysWhereItIs() {
    Post saved = mock();
    given(saved.getNo()).willReturn(7L);
    given(posts.save(argThat(post -> is(post, "café", "\uD83D\uDE80")))).willReturn(saved);
    assertThat(post(APPLICATION_JSON, "{'title':'café','content':'\uD83D\uDE80','more':[]}"))
        .hasStatus(HttpStatus.CREATED)
        .hasHeader("Location", "/post/7")
        .hasBodyTextEqualTo("");
  }

  @Test
  void readsAPost() {
    Post found = mock();
    given(found.getNo()).willReturn(7L);
    given(found.getTitle()).willReturn("t");
    given(found.getContent()).willReturn("c");
    given(posts.findById(7L)).willReturn(Optional.of(found));
    assertThat(client.get().uri("/post/7"))
        .hasStatusOk()
        .bodyJson()
        .isStrictlyEqualTo("{\"no\":7,\"title\":\"t\",\"content\":\"c\"}");
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
    MvcTestResult result = post(TEXT_PLAIN, "{'title':'t','content':'c'}");
    assertRefused(
        result, HttpStatus.UNSUPPORTED_MEDIA_TYPE, "the Content-Type must be application/json");
  }

  @Test
  void refusesABodyAboveTheLimit() {
    String post = "{'title':'t','content':'c'}";
    String padding = " ".repeat(MAX_BODY_BYTES - post.length());
    given(posts.save(any())).willReturn(mock(Post.class));
    assertThat(post(APPLICATION_JSON, post + padding)).hasStatus(HttpStatus.CREATED);
    assertRefused(
        post(APPLICATION_JSON, post + padding + " "),
        HttpStatus.CONTENT_TOO_LARGE,
        "a body must have at most 65536 bytes");
  }

  @ParameterizedTest
  @CsvSource({"/", "/posts", "/post/", "/post/x", "/post/-1", "/post/1/2", "/post/1"})
  void findsNothingElse(String path) {
    given(posts.findById(1L)).willReturn(Optional.empty());
    assertRefused(client.get().uri(path).exchange(), HttpStatus.NOT_FOUND, "not found");
  }

  @ParameterizedTest
  @CsvSource({"PUT, /post, POST", "GET, /post, POST", "DELETE, /post/1, GET"})
  void refusesOtherMethods(String method, String path, String allowed) {
    MvcTestResult result = client.method(HttpMethod.valueOf(method)).uri(path).exchange();
    assertRefused(result, HttpStatus.METHOD_NOT_ALLOWED, "method not allowed");
    assertThat(result).hasHeader("Allow", allowed);
  }

  @Test
  void saysThatTheDatabaseDoesNotAnswer() {
    given(posts.findById(7L)).willThrow(new CannotCreateTransactionException("away"));
    given(posts.save(any())).willThrow(new DataAccessResourceFailureException("away"));
    HttpStatus status = HttpStatus.SERVICE_UNAVAILABLE;
    String reason = "the database does not answer";
    assertRefused(client.get().uri("/post/7").exchange(), status, reason);
    assertRefused(post(APPLICATION_JSON, "{'title':'t','content':'c'}"), status, reason);
  }

  /** Posts a body in which ' stands for ". */
  private MvcTestResult post(MediaType type, String body) {
    return client.post().uri("/post").contentType(type).content(body.replace('\'', '"')).exchange();
  }

  private static void assertRefused(MvcTestResult result, HttpStatus status, String reason) {
    assertThat(result)
        .hasStatus(status)
        .hasContentType(APPLICATION_JSON)
        .hasBodyTextEqualTo("{\"error\":\"" + reason + "\"}");
  }

  private static boolean is(Post post, String title, String content) {
    return post != null && post.getTitle().equals(title) && post.getContent().equals(content);
  }
}
