package engine

import (
	"fmt"
	"io"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pushbench/pushbench/k6/internal/protocol"
)

// readSize bounds what one read takes: several hundred draws.
const readSize = 64 << 10

// register maps one of the client's sockets to the client, and has the kernel report when the socket is connected.
func (l *loop) register(c *client, fd int) error {
	for fd >= len(l.byFD) {
		l.byFD = append(l.byFD, nil)
	}
	l.byFD[fd] = c
	event := unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLRDHUP | unix.EPOLLOUT, Fd: int32(fd)}
	if err := unix.EpollCtl(l.epoll, unix.EPOLL_CTL_ADD, fd, &event); err != nil {
		return fmt.Errorf("epoll: %w", err)
	}
	return nil
}

// ready reads and writes as much as the kernel allows.
func (l *loop) ready(fd int, events uint32) {
	c := l.byFD[fd]
	switch {
	case c == nil:
		return
	case fd != c.fd:
		l.readyAside(c, events)
		return
	case c.state == connecting:
		l.connected(c, l.now())
		return
	case events&unix.EPOLLOUT != 0:
		l.flush(c)
	}
	if events&^unix.EPOLLOUT == 0 || c.fd < 0 {
		return
	}
	n, err := read(c.fd, l.buf)
	now := l.now()
	switch {
	case err == unix.EAGAIN || err == unix.EINTR:
	case err != nil:
		l.lost(c, err, now)
	case n == 0 && c.own != nil && c.state == member:
		l.hungUp(c, now)
	case n == 0:
		l.lost(c, io.EOF, now)
	default:
		l.received(c, l.buf[:n], now)
	}
	l.fire(now) // a message that is due must not wait behind a long batch of reads
}

// lost handles the end of a connection that the client did not request.
func (l *loop) lost(c *client, err error, now time.Duration) {
	if c.state < opening {
		l.setback(c, broken(err), now)
		return
	}
	l.drop(c, fmt.Errorf("connection lost: %w", err))
}

// fail ends a connection whose server violates the protocol.
func (l *loop) fail(c *client, err error, now time.Duration) {
	if c.state < opening {
		l.setback(c, err, now)
		return
	}
	l.drop(c, err)
}

// received handles bytes that arrived at time now. The opening of a connection does not count as traffic.
func (l *loop) received(c *client, data []byte, now time.Duration) {
	if c.state != shaking {
		l.passage.ReceivedBytes += int64(len(data))
	}
	event, session := &l.event, c.session
	for c.fd >= 0 && c.session == session { // not a connection that has replaced this one
		n, err := session.Next(data, event)
		data = data[n:]
		switch {
		case err != nil:
			l.fail(c, err, now)
			return
		case event.Kind == protocol.Nothing:
			return
		case event.Kind == protocol.Opened:
			l.passage.ReceivedBytes += int64(len(data))
		}
		l.handle(c, event, now)
	}
}

// write sends bytes, and keeps those that the kernel does not take.
func (l *loop) write(c *client, data []byte) {
	if c.fd < 0 || len(data) == 0 {
		return
	}
	if err := l.transmit(c.fd, &c.backlog, data); err != nil {
		l.drop(c, err)
	}
}

func (l *loop) flush(c *client) {
	if err := l.transmitBacklog(c.fd, &c.backlog); err != nil {
		l.drop(c, err)
	}
}

// transmit sends bytes over a socket, and adds those that the kernel does not take to its backlog.
func (l *loop) transmit(fd int, backlog *[]byte, data []byte) error {
	if len(*backlog) > 0 {
		*backlog = append(*backlog, data...)
		return nil
	}
	n, err := write(fd, data)
	if err != nil && err != unix.EAGAIN {
		return fmt.Errorf("connection lost: %w", err)
	}
	l.passage.SentBytes += int64(n)
	if n < len(data) {
		*backlog = append((*backlog)[:0], data[n:]...)
		l.interest(fd, unix.EPOLLIN|unix.EPOLLRDHUP|unix.EPOLLOUT)
	}
	return nil
}

// transmitBacklog sends as much of the backlog as the kernel takes.
func (l *loop) transmitBacklog(fd int, backlog *[]byte) error {
	n, err := write(fd, *backlog)
	if err != nil && err != unix.EAGAIN {
		return fmt.Errorf("connection lost: %w", err)
	}
	l.passage.SentBytes += int64(n)
	*backlog = append((*backlog)[:0], (*backlog)[n:]...)
	if len(*backlog) == 0 {
		l.interest(fd, unix.EPOLLIN|unix.EPOLLRDHUP)
	}
	return nil
}

func (l *loop) interest(fd int, events uint32) {
	event := unix.EpollEvent{Events: events, Fd: int32(fd)}
	_ = unix.EpollCtl(l.epoll, unix.EPOLL_CTL_MOD, fd, &event)
}

// release closes the socket.
func (l *loop) release(c *client) {
	if c.fd < 0 {
		return
	}
	l.releaseAside(c)
	l.byFD[c.fd] = nil
	_ = unix.Close(c.fd)
	c.fd = -1
	protocol.Discard(c.session)
	c.session, c.backlog, c.silent = nil, nil, never
	c.playing.next, c.playing.limit = "", never
	if c.state >= opening {
		l.gauges.connected.Add(-1)
	}
}
