package pushbench.location;

import jakarta.servlet.ReadListener;
import jakarta.servlet.ServletInputStream;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import java.io.ByteArrayInputStream;

/** A request whose body has already been read. */
class ReadRequest extends HttpServletRequestWrapper {
  private final ServletInputStream body;

  ReadRequest(HttpServletRequest request, byte[] body) {
    super(request);
    this.body = new Body(new ByteArrayInputStream(body));
  }

  @Override
  public ServletInputStream getInputStream() {
    return body;
  }

  private static class Body extends ServletInputStream {
    private final ByteArrayInputStream bytes;

    Body(ByteArrayInputStream bytes) {
      this.bytes = bytes;
    }

    @Override
    public int read() {
      return bytes.read();
    }

    @Override
    public int read(byte[] target, int offset, int length) {
      return bytes.read(target, offset, length);
    }

    @Override
    public boolean isFinished() {
      return bytes.available() == 0;
    }

    @Override
    public boolean isReady() {
      return true;
    }

    @Override
    public void setReadListener(ReadListener listener) {
      throw new UnsupportedOperationException("the body is read already");
    }
  }
}
