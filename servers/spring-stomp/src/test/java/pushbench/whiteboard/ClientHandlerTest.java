package pushbench.whiteboard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.when;

import jakarta.websocket.Session;
import java.io.EOFException;
import java.util.HashMap;
import java.util.Map;
import org.apache.tomcat.websocket.Constants;
import org.junit.jupiter.api.Test;
import org.springframework.web.socket.WebSocketHandler;
import org.springframework.web.socket.adapter.standard.StandardWebSocketSession;

class ClientHandlerTest {
  @Test
  void aCloseFrameWaitsForNothingWhereTheClientHasGone() throws Exception {
    Map<String, Object> limits = new HashMap<>();
    Session tomcat = mock();
    when(tomcat.getUserProperties()).thenReturn(limits);
    var session = new StandardWebSocketSession(null, null, null, null);
    session.initializeNativeSession(tomcat);
    WebSocketHandler delegate = mock();
    var gone = new EOFException();
    new ClientHandler(delegate).handleTransportError(session, gone);
    assertThat(limits).containsEntry(Constants.ABNORMAL_SESSION_CLOSE_SEND_TIMEOUT_PROPERTY, 0L);
    verify(delegate).handleTransportError(session, gone);
  }
}
