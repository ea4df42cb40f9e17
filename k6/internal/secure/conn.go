// Package secure is the client's side of TLS on byte slices: bytes of the server come in, bytes for it come out. It
// never waits and uses no sockets. The handshake of crypto/tls waits for bytes, so it runs in a coroutine.
package secure

import (
	"crypto/tls"
	"errors"
	"iter"
	"net"
	"time"
)

// ErrMore says that Read needs more bytes of the server.
var ErrMore = errors.New("more bytes are needed")

// errEnded ends a handshake that nobody continues.
var errEnded = errors.New("the connection was closed in the handshake")

// Conn is one connection. It belongs to one goroutine at a time.
type Conn struct {
	tls    *tls.Conn
	pipe   *pipe
	resume func() (struct{}, bool)
	stop   func()
	result error
	done   bool
}

// New makes a connection that has said nothing yet.
func New(config *tls.Config) *Conn {
	c := &Conn{pipe: &pipe{}}
	c.tls = tls.Client(c.pipe, config)
	c.resume, c.stop = iter.Pull(func(yield func(struct{}) bool) {
		c.pipe.wait = func() bool { return yield(struct{}{}) }
		c.result = c.tls.Handshake()
	})
	return c
}

// Shake continues the handshake with what was Received, and tells whether it is over.
func (c *Conn) Shake() (done bool, err error) {
	if c.done {
		return true, nil
	}
	if _, waits := c.resume(); waits {
		return false, nil
	}
	c.done, c.pipe.wait = true, nil
	return true, c.result
}

// Shaken tells whether the handshake is over.
func (c *Conn) Shaken() bool { return c.done }

// Received takes bytes of the server. They have to stay as they are until Shake needs more, or Read fails.
func (c *Conn) Received(data []byte) {
	if len(c.pipe.in) > 0 {
		data = append(c.pipe.in[:len(c.pipe.in):len(c.pipe.in)], data...)
	}
	c.pipe.in = data
}

// Read decrypts what was Received. It fails with ErrMore where that is used up, and with io.EOF where the server says
// that nothing follows.
func (c *Conn) Read(p []byte) (int, error) {
	n, err := c.tls.Read(p)
	if errors.Is(err, errAgain) {
		err = ErrMore
	}
	return n, err
}

// Write encrypts bytes for the server.
func (c *Conn) Write(p []byte) error {
	_, err := c.tls.Write(p)
	return err
}

// Sent appends to buf what has to be sent, which is then forgotten.
func (c *Conn) Sent(buf []byte) []byte {
	buf = append(buf, c.pipe.out...)
	c.pipe.out = c.pipe.out[:0]
	return buf
}

// End releases the coroutine of a handshake that is not over.
func (c *Conn) End() { c.stop() }

// pipe is what crypto/tls takes for its connection.
type pipe struct {
	in, out []byte
	wait    func() bool // for more bytes; false where none will come. Nil after the handshake: then reading fails
}

// again is a temporary error: crypto/tls goes on after it as if nothing was read.
type again struct{}

var errAgain net.Error = again{}

func (again) Error() string   { return "no bytes yet" }
func (again) Timeout() bool   { return true }
func (again) Temporary() bool { return true }

// Read is of net.Conn, as are the methods below.
func (p *pipe) Read(b []byte) (int, error) {
	for len(p.in) == 0 {
		if p.wait == nil {
			return 0, errAgain
		}
		if !p.wait() {
			return 0, errEnded
		}
	}
	n := copy(b, p.in)
	p.in = p.in[n:]
	return n, nil
}

func (p *pipe) Write(b []byte) (int, error) {
	p.out = append(p.out, b...)
	return len(b), nil
}

func (p *pipe) Close() error                     { return nil }
func (p *pipe) LocalAddr() net.Addr              { return nil }
func (p *pipe) RemoteAddr() net.Addr             { return nil }
func (p *pipe) SetDeadline(time.Time) error      { return nil }
func (p *pipe) SetReadDeadline(time.Time) error  { return nil }
func (p *pipe) SetWriteDeadline(time.Time) error { return nil }
