package faulty

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

const (
	upgraded = "HTTP/1.1 101"
	refusal  = "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
	// closeFrame is the first byte of an unmasked close frame: RFC 6455, section 5.2.
	closeFrame = 0x88
	// grace is how long a closed connection continues after the last delayed frame was due.
	grace = 20 * time.Millisecond
	// mostDelayed is how many bytes of a connection are delayed at most; beyond them the server blocks, as it does for the
	// kernel.
	mostDelayed = 64 * 1024
	// mostHeld is how long a delivery waits at most for one of another sender.
	mostHeld = 100 * time.Millisecond
)

// conn is a connection with faults. It holds a net.Conn rather than a *net.TCPConn, so that a server's net.Buffers
// arrive as one Write for each frame.
type conn struct {
	net.Conn
	l *listener

	isClient bool
	boards   []string
	weight   []byte
	delayed  chan delayed
	waiting  atomic.Int64 // bytes that are delayed
	last     atomic.Int64 // UnixNano at which the last delayed frame is due

	mu   sync.Mutex
	held []byte // a delivery that goes out after a later one

	closing sync.Once
	closed  chan struct{}
}

type delayed struct {
	due   time.Time
	frame []byte
}

// Read implements net.Conn.
func (c *conn) Read(into []byte) (int, error) {
	n, err := c.Conn.Read(into)
	if n > 0 && c.l.since() > 0 {
		c.l.stand()
		burn(c.l.faults.Burn)
	}
	return n, err
}

// Close implements net.Conn. Delayed frames are still written.
func (c *conn) Close() (err error) {
	c.closing.Do(func() {
		if c.isClient {
			c.l.clients.Add(-1)
			c.l.leave(c)
		}
		if last := c.last.Load(); last > 0 {
			time.AfterFunc(time.Until(time.Unix(0, last))+grace, func() { close(c.closed); _ = c.Conn.Close() })
			return
		}
		close(c.closed)
		err = c.Conn.Close()
	})
	return err
}

// Write implements net.Conn. Frames that are lost or delayed count as written.
func (c *conn) Write(frame []byte) (int, error) {
	switch {
	case !c.isClient && bytes.HasPrefix(frame, []byte(upgraded)):
		return c.upgrade(frame)
	case !c.isClient:
		return c.Conn.Write(frame)
	case bytes.Contains(frame, []byte(`"draw"`)):
		return c.deliver(frame)
	case bytes.Contains(frame, []byte(`"joined"`)):
		c.l.join(c, text(frame, "boardId"))
	}
	c.l.stand()
	if c.delayed != nil { // in order with the frames still queued
		return c.later(frame, 0)
	}
	return c.write(frame)
}

// write writes to the client. After a close frame it ends the stream, as servers do with a *net.TCPConn.
func (c *conn) write(frame []byte) (int, error) {
	n, err := c.Conn.Write(frame)
	if tcp, ok := c.Conn.(*net.TCPConn); ok && len(frame) > 0 && frame[0] == closeFrame {
		_ = tcp.CloseWrite()
	}
	return n, err
}

// upgrade registers the connection as a client, or refuses it.
func (c *conn) upgrade(response []byte) (int, error) {
	f, clients := c.l.faults, c.l.clients.Add(1)
	if f.DieAt > 0 && clients >= f.DieAt {
		fmt.Fprintf(os.Stderr, "faulty: died of client %d\n", clients)
		os.Exit(1)
	}
	if f.RefuseBeyond > 0 && clients > f.RefuseBeyond {
		c.l.clients.Add(-1)
		_, _ = c.Conn.Write([]byte(refusal))
		_ = c.Conn.Close()
		return len(response), nil
	}
	c.l.began.CompareAndSwap(0, time.Now().UnixNano())
	c.isClient, c.weight = true, resident(f.Weight)
	return c.Conn.Write(response)
}

func (c *conn) deliver(frame []byte) (int, error) {
	c.l.stand()
	f, number, length := c.l.faults, c.l.number.Add(1), len(frame)
	busy := c.l.busy()
	every := func(n int64) bool { return n > 0 && number%n == 0 }
	switch {
	case f.Silent, every(f.DropEvery):
		return length, nil
	case every(f.SwapEvery+f.OvertakeEvery) && c.hold(frame):
		return length, nil
	case every(f.AlterEvery):
		frame = altered(frame)
	case every(f.CrossEvery):
		if stranger := c.l.outside(text(frame, "boardId")); stranger != nil {
			_, _ = stranger.Conn.Write(frame)
		}
	case every(f.LateEvery):
		time.AfterFunc(f.LateBy, func() { _, _ = c.Conn.Write(frame) })
		return length, nil
	}
	c.l.queue()
	held := c.release(frame)
	if f.OvertakeEvery > 0 && text(held, "userId") == text(frame, "userId") {
		frame, held = held, frame // keeps the order of one sender
	}
	err := c.send(frame)
	if err == nil && every(f.TwiceEvery) && busy {
		err = c.send(frame)
	}
	if err == nil && held != nil {
		err = c.send(held)
	}
	return length, err
}

// hold keeps a delivery back, unless one is held already. The delivery is not lost if no other overtakes it.
func (c *conn) hold(frame []byte) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.held != nil {
		return false
	}
	c.held = frame
	if c.l.faults.OvertakeEvery > 0 {
		time.AfterFunc(mostHeld, func() {
			c.mu.Lock()
			defer c.mu.Unlock()
			if len(c.held) > 0 && &c.held[0] == &frame[0] {
				c.held = nil
				_, _ = c.write(frame)
			}
		})
	}
	return true
}

// release returns the held delivery that goes out with this one; nil if there is none. A swapped delivery goes out with
// the next one of its sender.
func (c *conn) release(frame []byte) []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.held == nil || c.l.faults.SwapEvery > 0 && text(c.held, "userId") != text(frame, "userId") {
		return nil
	}
	held := c.held
	c.held = nil
	return held
}

// send writes a delivery, now or later.
func (c *conn) send(frame []byte) error {
	f := c.l.faults
	delay := f.Delay + time.Duration(c.l.since().Seconds()*float64(f.Aging))
	if f.SlowBoard > 0 && c.l.isFirst(text(frame, "boardId")) {
		delay += f.SlowBoard
	}
	if delay == 0 {
		_, err := c.Conn.Write(frame)
		return err
	}
	_, err := c.later(frame, delay)
	return err
}

// later writes after the delay, and after everything that was delayed before.
func (c *conn) later(frame []byte, delay time.Duration) (int, error) {
	if c.delayed == nil {
		c.delayed = make(chan delayed, mostDelayed)
		go c.writeDelayed()
	}
	for c.waiting.Add(int64(len(frame))); c.waiting.Load() > max(mostDelayed, int64(len(frame))); {
		select {
		case <-time.After(time.Millisecond):
		case <-c.closed:
			return 0, net.ErrClosed
		}
	}
	due := time.Unix(0, max(time.Now().Add(delay).UnixNano(), c.last.Load()))
	c.last.Store(due.UnixNano())
	select {
	case c.delayed <- delayed{due, frame}:
		return len(frame), nil
	case <-c.closed:
		return 0, net.ErrClosed
	}
}

func (c *conn) writeDelayed() {
	for {
		select {
		case next := <-c.delayed:
			time.Sleep(time.Until(next.due))
			_, _ = c.write(next.frame)
			c.waiting.Add(-int64(len(next.frame)))
		case <-c.closed:
			return
		}
	}
}

// altered returns a copy of the delivery with another first digit in its stroke.
func altered(frame []byte) []byte {
	at := bytes.Index(frame, []byte("[["))
	if at < 0 || at+2 >= len(frame) || frame[at+2] < '0' || frame[at+2] > '9' {
		return frame
	}
	other := slices.Clone(frame)
	other[at+2] = '1' + (other[at+2]-'0')%9
	return other
}

// text returns the value of a key of a flat JSON object, without escapes; empty if it has none.
func text(frame []byte, key string) string {
	_, rest, _ := bytes.Cut(frame, []byte(`"`+key+`"`))
	_, rest, _ = bytes.Cut(rest, []byte(`"`))
	value, _, _ := bytes.Cut(rest, []byte(`"`))
	return string(value)
}

// burn uses CPU for that time.
func burn(length time.Duration) {
	for began := time.Now(); length > 0 && time.Since(began) < length; {
	}
}
