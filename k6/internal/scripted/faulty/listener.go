package faulty

import (
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// listener is a server's listener with faults, and the state shared by all its connections.
type listener struct {
	net.Listener
	faults Faults

	began   atomic.Int64 // UnixNano of the first client; 0 before
	number  atomic.Int64 // number of the last delivery
	clients atomic.Int64

	mu     sync.Mutex
	boards map[string]map[*conn]struct{}
	first  string // the board that was joined first
	due    time.Time
	rate   rate
}

// Listen returns the listener with faults.
func Listen(of net.Listener, faults Faults) net.Listener {
	if faults.Leak > 0 {
		go leak(faults.Leak)
	}
	return &listener{Listener: of, faults: faults, boards: map[string]map[*conn]struct{}{}}
}

// Accept implements net.Listener.
func (l *listener) Accept() (net.Conn, error) {
	accepted, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	time.Sleep(l.faults.AcceptPause)
	if tcp, ok := accepted.(*net.TCPConn); ok {
		_ = tcp.SetNoDelay(!l.faults.Nagle)
	}
	return &conn{Conn: accepted, l: l, closed: make(chan struct{})}, nil
}

// since returns the time since the first client.
func (l *listener) since() time.Duration {
	began := l.began.Load()
	if began == 0 {
		return 0
	}
	return time.Since(time.Unix(0, began))
}

// stand waits during a stall or a pause.
func (l *listener) stand() {
	since, f := l.since(), l.faults
	if since >= f.StallAt && since < f.StallAt+f.StallFor {
		time.Sleep(f.StallAt + f.StallFor - since)
	}
	if f.PauseEvery > 0 {
		if left := f.PauseEvery - since%f.PauseEvery; left < f.PauseFor {
			time.Sleep(left)
		}
	}
}

// queue waits for the turn of one delivery if there is a capacity.
func (l *listener) queue() {
	if l.faults.Capacity == 0 {
		return
	}
	l.mu.Lock()
	if now := time.Now(); l.due.Before(now) {
		l.due = now
	}
	due := l.due
	l.due = due.Add(time.Second / time.Duration(l.faults.Capacity))
	l.mu.Unlock()
	time.Sleep(time.Until(due))
}

// busy counts a delivery, and reports whether the last second had more than faults.TwiceAbove.
func (l *listener) busy() bool {
	if l.faults.TwiceAbove == 0 {
		return true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.rate.count(time.Now()) > l.faults.TwiceAbove
}

// join records the board of a client.
func (l *listener) join(c *conn, board string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.first == "" {
		l.first = board
	}
	if l.boards[board] == nil {
		l.boards[board] = map[*conn]struct{}{}
	}
	l.boards[board][c] = struct{}{}
	c.boards = append(c.boards, board)
}

func (l *listener) leave(c *conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, board := range c.boards {
		if delete(l.boards[board], c); len(l.boards[board]) == 0 {
			delete(l.boards, board)
		}
	}
}

func (l *listener) isFirst(board string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return board == l.first
}

// outside returns a client of another board; nil if there is none.
func (l *listener) outside(board string) *conn {
	l.mu.Lock()
	defer l.mu.Unlock()
	for name, clients := range l.boards {
		for client := range clients {
			if name != board {
				return client
			}
		}
	}
	return nil
}

// rate counts events by second.
type rate struct {
	second       int64
	counted, was int64
}

// count adds one, and returns the count of the previous second.
func (r *rate) count(now time.Time) int64 {
	switch second := now.Unix(); second - r.second {
	case 0:
	case 1:
		r.second, r.was, r.counted = second, r.counted, 0
	default:
		r.second, r.was, r.counted = second, 0, 0
	}
	r.counted++
	return r.was
}

const (
	leakEvery = 100 * time.Millisecond
	pageBytes = 4096
)

// leak allocates that many bytes a second, and never frees them.
func leak(perSecond int64) {
	var kept [][]byte
	for range time.Tick(leakEvery) {
		kept = append(kept, resident(perSecond*int64(leakEvery)/int64(time.Second)))
	}
	_ = kept
}

// resident returns memory that is touched, so that it is resident.
func resident(bytes int64) []byte {
	block := make([]byte, bytes)
	for i := int64(0); i < bytes; i += pageBytes {
		block[i] = 1
	}
	return block
}
