package pushbench.location;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;

/**
 * Holds the streams, and sends them comments. A server detects that a client has left when it
 * writes for the second time after that, and may count it for 2 s. See "Disconnects" in the
 * reference of asynchronous requests:
 * https://docs.spring.io/spring-framework/reference/web/webmvc/mvc-ann-async.html
 */
@Component
class EventStreams {
  private static final int MILLISECONDS_BETWEEN_LOOKS = 200;

  private final Set<EventStream> streams = ConcurrentHashMap.newKeySet();

  void add(EventStream stream) {
    streams.add(stream);
  }

  void remove(EventStream stream) {
    streams.remove(stream);
  }

  @Scheduled(fixedRate = MILLISECONDS_BETWEEN_LOOKS)
  void comment() {
    streams.forEach(EventStream::commentWhenQuiet);
  }
}
