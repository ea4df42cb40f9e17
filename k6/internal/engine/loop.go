package engine

import (
	"container/heap"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/pushbench/pushbench/k6/internal/histogram"
	"github.com/pushbench/pushbench/k6/internal/ledger"
	"github.com/pushbench/pushbench/k6/internal/wire"
)

// never is a time after every load.
const never = time.Duration(math.MaxInt64)

// readSize is what one read takes at most: several hundred draws.
const readSize = 64 << 10

// loop is a single goroutine over one epoll set. It owns the clients of its groups; a timerfd wakes it when a message is due
// (exact to tens of microseconds, where the runtime's timers and epoll's own timeout count in milliseconds), an eventfd when
// somebody posted work.
type loop struct {
	engine             *Engine
	epoll, timer, wake int
	armed              time.Duration

	ledger  *ledger.Ledger
	groups  map[groupID]*ledger.Group
	stages  []latencies
	clients []*client
	byFD    []*client
	timers  timers
	second  *Second
	owed    int64         // until that second
	traffic Traffic       // of the clients' sockets, so far
	counted Traffic       // until that second
	marks   []Traffic     // at the borders of the steady windows, begin and end in turn
	edge    time.Duration // the next border, or the end of the second

	buf, frameBuf, payload []byte
	dismissed              int // so many populations are over
	quitting               bool
	outstanding            atomic.Int64
	ended                  chan struct{}

	mu     sync.Mutex
	posted []func()
}

// groupID names a group of any population.
type groupID struct{ population, number int }

// latencies are what a loop measured in one stage.
type latencies struct {
	echo, delivery, fanout, lateness, connect *histogram.Histogram
}

func newLoop(e *Engine) (*loop, error) {
	epoll, err1 := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	timer, err2 := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	wake, err3 := unix.Eventfd(0, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC)
	if err := errors.Join(err1, err2, err3); err != nil {
		return nil, fmt.Errorf("event loop: %w", err)
	}
	l := &loop{
		engine: e, epoll: epoll, timer: timer, wake: wake, armed: never,
		ledger: ledger.New(len(e.windows)), groups: map[groupID]*ledger.Group{},
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

// fire does everything that is due.
func (l *loop) fire(now time.Duration) {
	for now >= l.edge {
		l.cross()
	}
	for len(l.timers) > 0 && l.timers[0].at <= now {
		l.act(l.timers[0], now)
	}
}

// arm sets the timerfd to the next thing that is due.
func (l *loop) arm() {
	next := l.edge
	if len(l.timers) > 0 {
		next = min(next, l.timers[0].at)
	}
	if next == l.armed {
		return
	}
	l.armed = next
	wait := max(next-l.now(), time.Nanosecond) // 0 would disarm it
	spec := unix.ItimerSpec{Value: unix.NsecToTimespec(int64(wait))}
	_ = unix.TimerfdSettime(l.timer, 0, &spec, nil)
}

// schedule has the loop act on the client at t.
func (l *loop) schedule(c *client, t time.Duration) {
	c.at = t
	switch {
	case t == never && c.timer >= 0:
		heap.Remove(&l.timers, c.timer)
	case t == never:
	case c.timer >= 0:
		heap.Fix(&l.timers, c.timer)
	default:
		heap.Push(&l.timers, c)
	}
}

func (l *loop) add(c *client, rest []byte) {
	for c.fd >= len(l.byFD) {
		l.byFD = append(l.byFD, nil)
	}
	l.byFD[c.fd] = c
	l.engine.gauges.connected.Add(1)
	if l.over(c.population) {
		l.close(c)
		return
	}
	group, ok := l.groups[c.groupID()]
	if !ok {
		group = l.ledger.NewGroup(c.population.Groups.Size)
		l.groups[c.groupID()] = group
	}
	c.place = group.Place(c.slot)
	l.clients = append(l.clients, c)
	event := unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLRDHUP, Fd: int32(c.fd)}
	if err := unix.EpollCtl(l.epoll, unix.EPOLL_CTL_ADD, c.fd, &event); err != nil {
		l.drop(c, "epoll: "+err.Error())
		return
	}
	l.open(c)
	if len(rest) > 0 {
		l.received(c, rest, l.now())
	}
}

// ready reads and writes what the kernel says is possible.
func (l *loop) ready(fd int, events uint32) {
	c := l.byFD[fd]
	if c == nil {
		return
	}
	if events&unix.EPOLLOUT != 0 {
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
		l.drop(c, "connection lost: "+err.Error())
	case n == 0:
		l.drop(c, "connection lost: "+io.EOF.Error())
	default:
		l.traffic.ReceivedBytes += int64(n)
		l.received(c, l.buf[:n], now)
	}
	l.fire(now) // a message that is due must not wait behind a long batch of reads
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
	l.traffic.SentBytes += int64(n)
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
	l.traffic.SentBytes += int64(n)
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
	l.engine.gauges.connected.Add(-1)
}

// dismiss has every client say good-bye: all are of that population. What was not delivered by now is lost.
func (l *loop) dismiss(p *population) {
	l.dismissed = p.index + 1
	for _, c := range l.clients {
		l.leave(c)
	}
	for id, group := range l.groups {
		if group.Count() > 0 {
			l.engine.gauges.groups.Add(-1)
		}
		delete(l.groups, id)
	}
	l.ledger.GiveUp()
}

// over tells whether the population was dismissed.
func (l *loop) over(p *population) bool { return p.index < l.dismissed }

// forget closes those clients of the population whose server did not.
func (l *loop) forget(p *population) {
	l.clients = slices.DeleteFunc(l.clients, func(c *client) bool {
		if c.population != p {
			return false
		}
		l.close(c)
		return true
	})
}

func (l *loop) quit() { l.quitting = true }

// detach takes the socket out of the hands of the Go runtime, whose poller would wake for every message as well.
func detach(conn *net.TCPConn) (int, error) {
	defer func() { _ = conn.Close() }()
	if err := conn.SetNoDelay(true); err != nil {
		return -1, err
	}
	raw, err := conn.SyscallConn()
	if err != nil {
		return -1, err
	}
	fd, dupErr := -1, error(nil)
	if err := raw.Control(func(original uintptr) {
		fd, dupErr = unix.FcntlInt(original, unix.F_DUPFD_CLOEXEC, 0)
	}); err != nil {
		return -1, err
	}
	return fd, dupErr // O_NONBLOCK belongs to the shared description, so it stays
}

// reason is an error without what differs between clients, so that equal failures are counted together.
func reason(err error) string {
	var operation *net.OpError
	if errors.As(err, &operation) {
		return operation.Op + ": " + operation.Err.Error()
	}
	return err.Error()
}

// timers is a heap of clients by when they have to be looked at.
type timers []*client

func (t timers) Len() int           { return len(t) }
func (t timers) Less(i, j int) bool { return t[i].at < t[j].at }
func (t timers) Swap(i, j int) {
	t[i], t[j] = t[j], t[i]
	t[i].timer, t[j].timer = i, j
}

func (t *timers) Push(x any) {
	c := x.(*client)
	c.timer = len(*t)
	*t = append(*t, c)
}

func (t *timers) Pop() any {
	last := len(*t) - 1
	c := (*t)[last]
	(*t)[last] = nil
	*t = (*t)[:last]
	c.timer = -1
	return c
}

// read and write call the kernel without telling the runtime: on a non-blocking socket they never wait.
func read(fd int, p []byte) (int, error) {
	return rawIO(unix.SYS_READ, fd, p)
}

func write(fd int, p []byte) (int, error) {
	return rawIO(unix.SYS_WRITE, fd, p)
}

func rawIO(call uintptr, fd int, p []byte) (int, error) {
	n, _, errno := unix.RawSyscall(call, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)))
	if errno != 0 {
		return 0, errno
	}
	return int(n), nil
}
