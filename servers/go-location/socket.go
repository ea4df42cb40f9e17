package main

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/gobwas/ws"
	"github.com/gobwas/ws/wsutil"
)

// How long a client may take to answer a close frame. SIGTERM has to end the process within 5 s.
const closeTimeout = 3 * time.Second

// A client that sends without pause is paused, so that other clients get their turn. A pause is short because no sender
// waits for a slow reader.
const (
	maxFramesAtOnce = 64
	pause           = time.Millisecond
)

// socket is a client over a WebSocket.
type socket struct {
	conn    net.Conn
	frames  wsutil.Reader
	text    bytes.Buffer
	outbox  *outbox
	written chan struct{} // closed when nothing more will be written
	put     func(position []byte) error
	user    string
	atOnce  int // frames since the last pause
}

// newSocket needs the buffer of the handshake because a client may already have sent more.
func newSocket(conn net.Conn, buffered *bufio.Reader, user string, put func([]byte) error) *socket {
	c := &socket{
		conn: conn, outbox: newOutbox(func() { _ = conn.Close() }), written: make(chan struct{}), user: user, put: put,
	}
	c.frames = wsutil.Reader{
		Source:         buffered,
		State:          ws.StateServerSide,
		MaxMessageSize: maxBodyBytes,
		OnIntermediate: c.control,
		OnContinuation: c.continuation,
	}
	return c
}

func (c *socket) tell(told *news) { c.outbox.push(told.asFrame()) }

// serve returns when the connection is closed.
func (c *socket) serve() {
	go c.write()
	err := c.receive()
	if code, ok := closeCode(err); ok {
		c.close(code)
		<-c.written
		if !errors.As(err, new(closed)) {
			c.linger()
		}
	}
	c.outbox.abandon()
	<-c.written
}

// write returns when the outbox ends or the connection breaks.
func (c *socket) write() {
	defer close(c.written)
	var batch net.Buffers
	for {
		batch = c.outbox.next(batch)
		if len(batch) == 0 {
			return
		}
		rest := batch // WriteTo removes what it has written
		if _, err := rest.WriteTo(c.conn); err != nil {
			c.outbox.abandon()
			return
		}
	}
}

// close queues a close frame and gives the client some time to read and answer it.
func (c *socket) close(code ws.StatusCode) {
	var body []byte
	if !code.Empty() {
		body = ws.NewCloseFrameBody(code, "")
	}
	if c.outbox.end(ws.MustCompileFrame(ws.NewCloseFrame(body))) {
		_ = c.conn.SetDeadline(time.Now().Add(closeTimeout))
	}
}

// linger keeps reading after a close frame. Otherwise the kernel would answer data still in flight with a reset, and
// the client might never read why it was closed.
func (c *socket) linger() {
	if tcp, ok := c.conn.(*net.TCPConn); ok {
		_ = tcp.CloseWrite()
	}
	_, _ = io.Copy(io.Discard, c.conn)
}

// closed is the error of a client that sent a close frame. It has the client's code.
type closed struct{ code ws.StatusCode }

func (closed) Error() string { return "closed by the client" }

var errInvalidUTF8 = errors.New("a text that is not UTF-8")

// closeCode returns the code with which to close because of err; there is none if the connection broke.
func closeCode(err error) (code ws.StatusCode, ok bool) {
	var violation ws.ProtocolError
	var answer closed
	switch {
	case errors.As(err, &answer):
		return answer.code, true
	case errors.Is(err, wsutil.ErrMessageTooLarge):
		return ws.StatusMessageTooBig, true
	case errors.Is(err, errInvalidUTF8):
		return ws.StatusInvalidFramePayloadData, true
	case errors.As(err, &violation), errors.Is(err, ws.ErrHeaderLengthMSB):
		return ws.StatusProtocolError, true
	}
	return 0, false
}

// receive handles messages until one of them, or the end of the connection, ends the client. It never returns nil.
func (c *socket) receive() error {
	for {
		header, err := c.frames.NextFrame()
		if err == nil && header.OpCode.IsControl() {
			err = c.control(header, &c.frames)
		} else if err == nil {
			err = c.message(header.OpCode)
		}
		if err != nil {
			return err
		}
	}
}

// rest is called after each frame.
func (c *socket) rest() {
	if c.atOnce++; c.atOnce == maxFramesAtOnce {
		time.Sleep(pause)
		c.atOnce = 0
	}
}

func (c *socket) continuation(ws.Header, io.Reader) error {
	c.rest()
	return nil
}

func (c *socket) control(header ws.Header, body io.Reader) error {
	defer c.rest()
	payload, err := io.ReadAll(body)
	if err != nil {
		return err
	}
	switch header.OpCode {
	case ws.OpPing:
		c.outbox.push(ws.MustCompileFrame(ws.NewPongFrame(payload)))
	case ws.OpClose:
		code, reason := ws.ParseCloseFrameData(payload)
		if len(payload) > 0 {
			err = ws.CheckCloseFrameData(code, reason)
		}
		if err == nil {
			err = closed{code}
		}
	}
	return err
}

func (c *socket) message(opCode ws.OpCode) error {
	defer c.rest()
	c.text.Reset()
	if _, err := c.text.ReadFrom(&c.frames); err != nil {
		return err
	}
	if opCode == ws.OpText && !utf8.Valid(c.text.Bytes()) {
		return errInvalidUTF8
	}
	err := errors.New("a position must be a text frame")
	var position []byte
	if opCode == ws.OpText {
		if position, err = parsePosition(c.user, c.text.Bytes()); err == nil {
			err = c.put(position)
		}
	}
	if err != nil {
		reason := must(json.Marshal(map[string]string{"error": err.Error()}))
		c.outbox.push(ws.MustCompileFrame(ws.NewTextFrame(reason)))
	}
	return nil
}
