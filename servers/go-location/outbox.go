package main

import (
	"net"
	"sync"
)

// A client that does not read is disconnected, because its queue would grow without bound.
const maxQueuedBytes = 1024 * 1024

// The largest capacity that is kept after a burst, for the next one.
const keptPieces = 256

// outbox is the queue of what is sent to one client. Queueing never waits. One goroutine writes, and each write has
// everything that was queued during the previous one.
type outbox struct {
	disconnect func() // makes a write in progress fail

	mu      sync.Mutex
	news    sync.Cond // there are pieces, or it ended
	pieces  net.Buffers
	queued  int // bytes of pieces, and of the batch being written
	writing int // bytes of that batch
	ended   bool
}

func newOutbox(disconnect func()) *outbox {
	o := &outbox{disconnect: disconnect}
	o.news.L = &o.mu
	return o
}

// push queues a piece, which may be shared with any number of clients and must not change any more.
func (o *outbox) push(piece []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.ended:
	case o.queued+len(piece) > maxQueuedBytes:
		o.ended, o.pieces = true, nil
		o.disconnect()
		o.news.Signal()
	default:
		o.append(piece)
	}
}

// end queues the last piece, or nothing. It reports false if the outbox has already ended.
func (o *outbox) end(last []byte) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.ended {
		return false
	}
	if len(last) > 0 {
		o.append(last)
	}
	o.ended = true
	o.news.Signal()
	return true
}

func (o *outbox) append(piece []byte) {
	o.pieces = append(o.pieces, piece)
	o.queued += len(piece)
	o.news.Signal()
}

// next waits for pieces; there are none once the outbox has ended. It takes the batch written before in exchange, to
// reuse its memory.
func (o *outbox) next(written net.Buffers) net.Buffers {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.queued -= o.writing
	for len(o.pieces) == 0 && !o.ended {
		o.news.Wait()
	}
	if cap(written) > keptPieces {
		written = nil
	}
	batch := o.pieces
	o.pieces, o.writing = written[:0], o.queued
	return batch
}

// abandon ends an outbox that can no longer be written.
func (o *outbox) abandon() {
	o.mu.Lock()
	o.ended, o.pieces = true, nil
	o.news.Signal()
	o.mu.Unlock()
	o.disconnect()
}
