// Package secure implements the client's side of TLS on byte slices: bytes from the server come in, bytes for it go
// out. It never waits and uses no sockets. The handshake of crypto/tls blocks for bytes, so it runs in a coroutine.
package secure

import (
	"crypto/tls"
	"errors"
	"iter"
	"net"
	"time"
)

// ErrMore means that Read needs more bytes from the server.
var ErrMore = errors.New("more bytes are needed")

// errEnded ends an abandoned handshake.
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

// New returns a connection that has not sent anything yet.
func New(config *tls.Config) *Conn {
	c := &Conn{pipe: &pipe{}}
	c.tls = tls.Client(c.pipe, config)
	c.resume, c.stop = iter.Pull(func(yield func(struct{}) bool) {
		c.pipe.wait = func() bool { return yield(struct{}{}) }
		c.result = c.tls.Handshake()
	})
	return c
}

// Shake continues the handshake with the Received bytes, and reports whether it is over.
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

// Shaken reports whether the handshake is over.
func (c *Conn) Shaken() bool { return c.done }

// Received takes bytes from the server. They must stay unchanged until Shake needs more, or Read fails.
func (c *Conn) Received(data []byte) {
	if len(c.pipe.in) > 0 {
		data = append(c.pipe.in[:len(c.pipe.in):len(c.pipe.in)], data...)
	}
	c.pipe.in = data
}

// Read decrypts the Received bytes. It fails with ErrMore if they are used up, and with io.EOF if the server has said
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

// Sent appends to buf what has to be sent, and then discards it.
func (c *Conn) Sent(buf []byte) []byte {
	buf = append(buf, c.pipe.out...)
	c.pipe.out = c.pipe.out[:0]
	return buf
}

// End releases the coroutine of a handshake that is not over.
func (c *Conn) End() { c.stop() }

// pipe is the connection given to crypto/tls.
type pipe struct {
	in, out []byte
	wait    func() bool // waits for more bytes; false if none will come. Nil after the handshake: then reading fails
}

// again is a temporary error: crypto/tls continues after it as if nothing had been read.
type again struct{}

var errAgain net.Error = again{}

func (again) Error() string   { return "no bytes yet" }
func (again) Timeout() bool   { return true }
func (again) Temporary() bool { return true }

// Read implements net.Conn, as do the methods below.
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
