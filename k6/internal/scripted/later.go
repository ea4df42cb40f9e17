package scripted

import (
	"sync"
	"time"
)

// later holds what a board delivers after a delay, in order of arrival: timers of the same instant fire in any order.
type later struct {
	mu      sync.Mutex
	waiting []func()
	turn    sync.Mutex
}

// after delivers once the delay has passed and everything before has been delivered.
func (l *later) after(delay time.Duration, deliver func()) {
	l.mu.Lock()
	l.waiting = append(l.waiting, deliver)
	l.mu.Unlock()
	time.AfterFunc(delay, l.next)
}

func (l *later) next() {
	l.turn.Lock()
	defer l.turn.Unlock()
	l.mu.Lock()
	first := l.waiting[0]
	l.waiting = l.waiting[1:]
	l.mu.Unlock()
	first()
}
