package main

import (
	"net"
	"sync"
)

// A client that does not read is disconnected, because its queue would grow without bound.
const maxQueuedBytes = 1024 * 1024

// The largest capacity that is kept after a burst, for the next one.
const keptFrames = 256

// outbox is the queue of frames for one client. Queueing never waits. One goroutine writes, and each write has
// everything that was queued during the previous one.
type outbox struct {
	conn net.Conn
	done chan struct{} // closed when nothing more will be written

	mu      sync.Mutex
	news    sync.Cond // there are frames, or it ended
	frames  net.Buffers
	queued  int // bytes of frames, and of the batch being written
	writing int // bytes of that batch
	ended   bool
}

func newOutbox(conn net.Conn) *outbox {
	o := &outbox{conn: conn, done: make(chan struct{})}
	o.news.L = &o.mu
	return o
}

// push queues a frame, which may be shared with any number of clients and must not change any more. It returns how many
// bytes are queued.
func (o *outbox) push(frame []byte) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.ended:
		return 0
	case o.queued+len(frame) > maxQueuedBytes:
		o.ended, o.frames = true, nil
		_ = o.conn.Close()
		o.news.Signal()
		return 0
	}
	o.append(frame)
	return o.queued
}

// end queues the last frame. It reports false if the outbox has already ended.
func (o *outbox) end(last []byte) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.ended {
		return false
	}
	o.append(last)
	o.ended = true
	return true
}

func (o *outbox) append(frame []byte) {
	o.frames = append(o.frames, frame)
	o.queued += len(frame)
	o.news.Signal()
}

// run writes until the outbox ends or the connection breaks.
func (o *outbox) run() {
	defer close(o.done)
	var batch net.Buffers
	for {
		batch = o.next(batch)
		if len(batch) == 0 {
			return
		}
		rest := batch // WriteTo removes what it has written
		if _, err := rest.WriteTo(o.conn); err != nil {
			o.abandon()
			return
		}
	}
}

// next waits for frames. It takes the batch written before in exchange, to reuse its memory.
func (o *outbox) next(written net.Buffers) net.Buffers {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.queued -= o.writing
	for len(o.frames) == 0 && !o.ended {
		o.news.Wait()
	}
	if cap(written) > keptFrames {
		written = nil
	}
	batch := o.frames
	o.frames, o.writing = written[:0], o.queued
	return batch
}

// abandon ends an outbox that can no longer be written.
func (o *outbox) abandon() {
	o.mu.Lock()
	o.ended, o.frames = true, nil
	o.mu.Unlock()
	_ = o.conn.Close()
}
