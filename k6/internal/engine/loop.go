package engine

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pushbench/pushbench/k6/internal/ledger"
	"github.com/pushbench/pushbench/k6/internal/protocol"
	"github.com/pushbench/pushbench/k6/internal/schedule"
)

const never = schedule.Never

// loop is a single goroutine over one epoll set. It owns the clients of its groups. A timerfd wakes it when a message
// is due, exact to tens of microseconds, while the runtime's timers and epoll's own timeout count in milliseconds. An
// eventfd wakes it when another goroutine has posted work.
type loop struct {
	engine             *Engine
	gauges             gauges
	index              int
	epoll, timer, wake int
	armed              time.Duration
	lead               lead

	ledger    *ledger.Ledger
	sidelines []sideline      // in the order of Protocol.Beside
	groups    []*ledger.Group // groups of the current population, like the clients
	rooms     rooms           // nil if the server does not name the groups
	clients   []*client
	courses   []Rooms     // by stage; none if there are no rooms
	awaited   int64       // clients that were due to connect and have not been members yet
	stages    []latencies // by account: see Engine.accounts
	storms    []storm
	late      []int64 // by stage: the awaited when its steady window began
	byFD      []*client
	pool      pool
	timers    timers
	second    *Second
	owed      int64         // receipts owed before that second
	passage   passage       // traffic so far
	counted   passage       // traffic before that second
	marks     []passage     // at the borders of the steady windows: begin and end alternate
	ends      []Clients     // at the ends of the steady windows
	edge      time.Duration // the next border, or the end of the second

	buf, payload []byte
	event        protocol.Event // the event being handled
	dismissed    int            // number of populations that are over
	quitting     bool
	outstanding  atomic.Int64
	ended        chan struct{}

	mu     sync.Mutex
	posted []func()
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
		ledger: ledger.New(e.accounts()), sidelines: newSidelines(len(e.protocol.Beside()), e.accounts()),
		late: make([]int64, len(e.windows)), storms: newStorms(e.outages),
		second: newSecond(0, e.protocol.Requests()), buf: make([]byte, readSize), ended: make(chan struct{}),
	}
	l.edge = min(l.second.end, l.border())
	if e.protocol.Matched {
		l.rooms = rooms{}
		l.courses = make([]Rooms, len(e.windows))
	}
	for range e.accounts() {
		l.stages = append(l.stages, newLatencies(e.protocol.Requests()))
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

// post makes the loop run f.
func (l *loop) post(f func()) {
	l.mu.Lock()
	l.posted = append(l.posted, f)
	l.mu.Unlock()
	one := [8]byte{1}
	_, _ = unix.Write(l.wake, one[:])
}

func (l *loop) run() {
	defer close(l.ended)
	defer l.endSecond()
	events := make([]unix.EpollEvent, 256)
	for !l.quitting {
		l.fire(l.now())
		n, err := l.wait(events)
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
		l.outstanding.Store(l.ledger.Outstanding() + l.outstandingBeside())
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

// fire does everything that is due, in order of the due times.
func (l *loop) fire(now time.Duration) {
	for {
		next := l.next()
		switch {
		case next > now:
			return
		case next == l.edge:
			l.cross()
		case next == l.pool.due():
			l.arrive(now)
		default:
			l.act(l.timers[0], now)
		}
	}
}

// next returns when something is due.
func (l *loop) next() time.Duration {
	next := min(l.edge, l.pool.due())
	if len(l.timers) > 0 {
		next = min(next, l.timers[0].at)
	}
	return next
}

// wait sleeps until a socket is ready, work was posted or something is due. If something is due soon, it polls instead.
func (l *loop) wait(events []unix.EpollEvent) (int, error) {
	next, early, begin := l.next(), l.engine.config.Spin+time.Duration(l.lead), l.now()
	if next-begin > early {
		l.arm(next - early)
		n, err := unix.EpollWait(l.epoll, events, -1)
		for _, event := range events[:max(n, 0)] {
			if int(event.Fd) == l.timer {
				l.lead.learn(l.now() - l.armed)
			}
		}
		return n, err
	}
	n, err := unix.EpollWait(l.epoll, events, 0)
	if n == 0 && next > begin {
		l.passage.spun += l.now() - begin
	}
	return n, err
}

// arm sets the timerfd.
func (l *loop) arm(t time.Duration) {
	if t == l.armed {
		return
	}
	l.armed = t
	wait := max(t-l.now(), time.Nanosecond) // 0 would disarm the timer
	spec := unix.ItimerSpec{Value: unix.NsecToTimespec(int64(wait))}
	_ = unix.TimerfdSettime(l.timer, 0, &spec, nil)
}

// quit ends the loop once everything that is due by now is done.
func (l *loop) quit() {
	l.fire(l.now())
	l.quitting = true
}
