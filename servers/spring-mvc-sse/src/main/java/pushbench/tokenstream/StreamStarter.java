package pushbench.tokenstream;

import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.springframework.stereotype.Component;
import org.springframework.web.servlet.AsyncHandlerInterceptor;
import org.springframework.web.servlet.config.annotation.InterceptorRegistry;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;

/**
 * Starts a stream once its request is asynchronous. SseEmitter queues everything sent before that,
 * so the first characters of a paced stream would be late.
 */
@Component
class StreamStarter implements AsyncHandlerInterceptor, WebMvcConfigurer {
  private static final String START = StreamStarter.class.getName();

  static void startLater(HttpServletRequest request, Runnable start) {
    request.setAttribute(START, start);
  }

  @Override
  public void afterConcurrentHandlingStarted(
      HttpServletRequest request, HttpServletResponse response, Object handler) {
    ((Runnable) request.getAttribute(START)).run();
  }

  @Override
  public void addInterceptors(InterceptorRegistry registry) {
    registry.addInterceptor(this).addPathPatterns("/stream");
  }
}
