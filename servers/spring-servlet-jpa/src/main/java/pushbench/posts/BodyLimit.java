package pushbench.posts;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Type;
import org.springframework.core.MethodParameter;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpInputMessage;
import org.springframework.http.converter.HttpMessageConverter;
import org.springframework.web.bind.annotation.ControllerAdvice;
import org.springframework.web.server.ContentTooLargeException;
import org.springframework.web.servlet.mvc.method.annotation.RequestBodyAdviceAdapter;

/** Refuses a body that is too large. Tomcat and Spring MVC limit forms only. */
@ControllerAdvice
class BodyLimit extends RequestBodyAdviceAdapter {
  private static final int MAX_BODY_BYTES = 64 * 1024;

  private record Body(HttpHeaders getHeaders, InputStream getBody) implements HttpInputMessage {}

  @Override
  public boolean supports(
      MethodParameter parameter, Type type, Class<? extends HttpMessageConverter<?>> converter) {
    return true;
  }

  @Override
  public HttpInputMessage beforeBodyRead(
      HttpInputMessage message,
      MethodParameter parameter,
      Type type,
      Class<? extends HttpMessageConverter<?>> converter)
      throws IOException {
    byte[] body = message.getBody().readNBytes(MAX_BODY_BYTES + 1);
    if (body.length > MAX_BODY_BYTES) {
      throw new ContentTooLargeException(null);
    }
    return new Body(message.getHeaders(), new ByteArrayInputStream(body));
  }
}
