package engine

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pushbench/pushbench/k6/internal/histogram"
	"github.com/pushbench/pushbench/k6/internal/ledger"
	"github.com/pushbench/pushbench/k6/internal/schedule"
	"github.com/pushbench/pushbench/k6/internal/wire"
)

const never = schedule.Never

// readSize is what one read takes at most: several hundred draws.
const readSize = 64 << 10

// loop is a single goroutine over one epoll set. It owns the clients of its groups; a timerfd wakes it when a message is due
// (exact to tens of microseconds, where the runtime's timers and epoll's own timeout count in milliseconds), an eventfd when
// somebody posted work.
type loop struct {
	engine             *Engine
	index              int
	epoll, timer, wake int
	armed              time.Duration

	ledger  *ledger.Ledger
	groups  []*ledger.Group // of the present population, and so are the clients
	clients []*client
	awaited int64 // clients that came and have not been members yet
	stages  []latencies
	late    []int64 // of each stage: the awaited when its steady window began
	byFD    []*client
	timers  timers
	second  *Second
	owed    int64         // until that second
	passage passage       // so far
	counted passage       // until that second
	marks   []passage     // at the borders of the steady windows, begin and end in turn
	edge    time.Duration // the next border, or the end of the second

	buf, frameBuf, payload []byte
	dismissed              int // so many populations are over
	quitting               bool
	outstanding            atomic.Int64
	ended                  chan struct{}

	mu     sync.Mutex
	posted []func()
}

// latencies are what a loop measured in one stage.
type latencies struct {
	echo, delivery, fanout, lateness, connect *histogram.Histogram
}

func newLoop(e *Engine, index int) (*loop, error) {
	epoll, err1 := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	timer, err2 := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	wake, err3 := unix.Eventfd(0, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC)
	if err := errors.Join(err1, err2, err3); err != nil {
		return nil, fmt.Errorf("event loop: %w", err)
	}
	l := &loop{
		engine: e, index: index, epoll: epoll, timer: timer, wake: wake, armed: never,
		ledger: ledger.New(len(e.windows)), late: make([]int64, len(e.windows)),
		buf: make([]byte, readSize), ended: make(chan struct{}),
	}
	for range e.windows {
		l.stages = append(l.stages, newLatencies())
	}
	for _, fd := range []int{timer, wake} {
		event := unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLET, Fd: int32(fd)}
		if err := unix.EpollCtl(epoll, unix.EPOLL_CTL_ADD, fd, &event); err != nil {
			return nil, fmt.Errorf("event loop: %w", err)
		}
	}
	return l, nil
}

func (l *loop) now() time.Duration { return l.engine.now() }

// post has f run by the loop.
func (l *loop) post(f func()) {
	l.mu.Lock()
	l.posted = append(l.posted, f)
	l.mu.Unlock()
	one := [8]byte{1}
	_, _ = unix.Write(l.wake, one[:])
}

func (l *loop) run() {
	defer close(l.ended)
	l.second = newSecond(0)
	l.edge = min(l.second.end, l.border())
	defer l.endSecond()
	events := make([]unix.EpollEvent, 256)
	for !l.quitting {
		l.fire(l.now())
		l.arm()
		n, err := unix.EpollWait(l.epoll, events, -1)
		if err != nil && err != unix.EINTR {
			l.engine.collector.complain("epoll: " + err.Error())
			return
		}
		for _, event := range events[:max(n, 0)] {
			switch fd := int(event.Fd); fd {
			case l.timer:
				l.armed = never
			case l.wake:
				l.runPosted()
			default:
				l.ready(fd, event.Events)
			}
		}
		l.outstanding.Store(l.ledger.Outstanding())
	}
	for _, fd := range []int{l.epoll, l.timer, l.wake} {
		_ = unix.Close(fd)
	}
}

func (l *loop) runPosted() {
	var count [8]byte
	_, _ = unix.Read(l.wake, count[:])
	l.mu.Lock()
	posted := l.posted
	l.posted = nil
	l.mu.Unlock()
	for _, f := range posted {
		f()
	}
}

// fire does everything that is due, in the order in which it was.
func (l *loop) fire(now time.Duration) {
	for {
		next := l.next()
		switch {
		case next > now:
			return
		case next == l.edge:
			l.cross()
		default:
			l.act(l.timers[0], now)
		}
	}
}

// next is when something is due.
func (l *loop) next() time.Duration {
	if len(l.timers) > 0 {
		return min(l.edge, l.timers[0].at)
	}
	return l.edge
}

// arm sets the timerfd to the next thing that is due.
func (l *loop) arm() {
	next := l.next()
	if next == l.armed {
		return
	}
	l.armed = next
	wait := max(next-l.now(), time.Nanosecond) // 0 would disarm it
	spec := unix.ItimerSpec{Value: unix.NsecToTimespec(int64(wait))}
	_ = unix.TimerfdSettime(l.timer, 0, &spec, nil)
}

// register finds the client by its socket from now on.
func (l *loop) register(c *client) {
	for c.fd >= len(l.byFD) {
		l.byFD = append(l.byFD, nil)
	}
	l.byFD[c.fd] = c
}

// ready reads and writes what the kernel says is possible.
func (l *loop) ready(fd int, events uint32) {
	c := l.byFD[fd]
	if c == nil {
		return
	}
	switch {
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
	case n == 0:
		l.lost(c, io.EOF, now)
	case c.state == shaking:
		l.shake(c, l.buf[:n], now)
	default:
		l.passage.ReceivedBytes += int64(n)
		l.received(c, l.buf[:n], now)
	}
	l.fire(now) // a message that is due must not wait behind a long batch of reads
}

// lost handles the end of a connection that the client did not ask for.
func (l *loop) lost(c *client, err error, now time.Duration) {
	if c.state < opening {
		l.setback(c, broken(err), now)
		return
	}
	l.drop(c, "connection lost: "+err.Error())
}

// received takes bytes that came from the server at that time.
func (l *loop) received(c *client, data []byte, now time.Duration) {
	if len(c.partial) > 0 {
		c.partial = append(c.partial, data...)
		data = c.partial
	}
	for c.fd >= 0 {
		frame, size, err := wire.Next(data)
		if err != nil {
			l.drop(c, err.Error())
			return
		}
		if size == 0 {
			c.partial = append(c.partial[:0], data...)
			return
		}
		data = data[size:]
		l.frame(c, frame, now)
	}
}

// write sends one frame, or keeps what the kernel does not take.
func (l *loop) write(c *client, opcode byte, payload []byte) {
	if c.fd < 0 {
		return
	}
	if len(c.backlog) > 0 {
		c.backlog = wire.Append(c.backlog, opcode, mask(), payload)
		return
	}
	l.frameBuf = wire.Append(l.frameBuf[:0], opcode, mask(), payload)
	n, err := write(c.fd, l.frameBuf)
	if err != nil && err != unix.EAGAIN {
		l.drop(c, "connection lost: "+err.Error())
		return
	}
	l.passage.SentBytes += int64(n)
	if n < len(l.frameBuf) {
		c.backlog = append(c.backlog[:0], l.frameBuf[n:]...)
		l.interest(c, unix.EPOLLIN|unix.EPOLLRDHUP|unix.EPOLLOUT)
	}
}

func (l *loop) flush(c *client) {
	n, err := write(c.fd, c.backlog)
	if err != nil && err != unix.EAGAIN {
		l.drop(c, "connection lost: "+err.Error())
		return
	}
	l.passage.SentBytes += int64(n)
	c.backlog = append(c.backlog[:0], c.backlog[n:]...)
	if len(c.backlog) == 0 {
		l.interest(c, unix.EPOLLIN|unix.EPOLLRDHUP)
	}
}

func (l *loop) interest(c *client, events uint32) {
	event := unix.EpollEvent{Events: events, Fd: int32(c.fd)}
	_ = unix.EpollCtl(l.epoll, unix.EPOLL_CTL_MOD, c.fd, &event)
}

// release closes the socket.
func (l *loop) release(c *client) {
	if c.fd < 0 {
		return
	}
	l.byFD[c.fd] = nil
	_ = unix.Close(c.fd)
	c.fd = -1
	c.partial, c.message, c.backlog = nil, wire.Message{}, nil
	if c.state >= opening {
		l.engine.gauges.connected.Add(-1)
	}
}

// quit ends the loop, once everything that is due by now was done.
func (l *loop) quit() {
	l.fire(l.now())
	l.quitting = true
}
