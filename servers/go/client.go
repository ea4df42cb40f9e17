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

const maxMessageBytes = 64 * 1024

// How long a client may take to answer a close frame. SIGTERM has to end the process within 5 s.
const closeTimeout = 3 * time.Second

// A client that sends without pause is paused after this many frames, so that other clients get their turn. It is also
// paused when this much is queued for its receivers; otherwise it would fill the queues of clients that do read faster
// than they can be written. A pause is short because no sender waits for a slow reader.
const (
	maxFramesAtOnce = 64
	maxUnreadBytes  = 64 * 1024
	pause           = time.Millisecond
)

// client is one connection: it turns the client's messages into joins, draws and leaves.
type client struct {
	conn   net.Conn
	frames wsutil.Reader
	text   bytes.Buffer
	outbox *outbox
	boards *boards
	joined map[string]*board
	atOnce int // frames since the last pause
	queued int // bytes queued for the receivers of its last frame
}

// newClient needs the buffer of the handshake because a client may already have sent more.
func newClient(conn net.Conn, buffered *bufio.Reader, boards *boards) *client {
	c := &client{conn: conn, outbox: newOutbox(conn), boards: boards, joined: make(map[string]*board)}
	c.frames = wsutil.Reader{
		Source:         buffered,
		State:          ws.StateServerSide,
		MaxMessageSize: maxMessageBytes,
		OnIntermediate: c.control,
		OnContinuation: c.continuation,
	}
	return c
}

// serve returns when the connection is closed.
func (c *client) serve() {
	go c.outbox.run()
	err := c.receive()
	for _, board := range c.joined {
		c.boards.leave(board, c)
	}
	if code, ok := closeCode(err); ok {
		c.close(code)
		<-c.outbox.done
		if !errors.As(err, new(closed)) {
			c.linger()
		}
	}
	_ = c.conn.Close()
	<-c.outbox.done
}

// close queues a close frame and gives the client some time to read and answer it.
func (c *client) close(code ws.StatusCode) {
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
func (c *client) linger() {
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
func (c *client) receive() error {
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
func (c *client) rest() {
	c.atOnce++
	if c.atOnce == maxFramesAtOnce || c.queued > maxUnreadBytes {
		time.Sleep(pause)
		c.atOnce = 0
	}
	c.queued = 0
}

func (c *client) continuation(ws.Header, io.Reader) error {
	c.rest()
	return nil
}

func (c *client) control(header ws.Header, body io.Reader) error {
	defer c.rest()
	payload, err := io.ReadAll(body)
	if err != nil {
		return err
	}
	switch header.OpCode {
	case ws.OpPing:
		c.queued = c.outbox.push(ws.MustCompileFrame(ws.NewPongFrame(payload)))
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

func (c *client) message(opCode ws.OpCode) error {
	defer c.rest()
	c.text.Reset()
	if _, err := c.text.ReadFrom(&c.frames); err != nil {
		return err
	}
	var err error
	switch {
	case opCode == ws.OpBinary:
		err = badMessage("a message must be a text frame")
	case !utf8.Valid(c.text.Bytes()):
		return errInvalidUTF8
	default:
		err = c.handle(c.text.Bytes())
	}
	if err != nil {
		c.say(answer{Type: "error", Reason: err.Error()})
	}
	return nil
}

// handle returns a badMessage or nil.
func (c *client) handle(text []byte) error {
	message, err := parseMessage(text)
	if err != nil {
		return err
	}
	id := string(message.BoardID)
	if message.Type == "join" {
		if c.joined[id] == nil {
			c.joined[id] = c.boards.join(id, c)
		}
		c.say(answer{Type: "joined", BoardID: id, UserID: string(message.UserID)})
		return nil
	}
	board := c.joined[id]
	if board == nil {
		return badMessage(string(message.Type) + ": this connection has not joined the board")
	}
	if message.Type == "draw" {
		// One frame for all members: a server's frames are not masked.
		c.queued = board.broadcast(ws.MustCompileFrame(ws.NewTextFrame(text)))
	} else {
		delete(c.joined, id)
		c.boards.leave(board, c)
	}
	return nil
}

type answer struct {
	Type    string `json:"type"`
	BoardID string `json:"boardId,omitzero"`
	UserID  string `json:"userId,omitzero"`
	Reason  string `json:"reason,omitzero"`
}

func (c *client) say(answer answer) {
	c.queued = c.outbox.push(ws.MustCompileFrame(ws.NewTextFrame(must(json.Marshal(answer)))))
}
