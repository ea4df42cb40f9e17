package main

import (
	"net"
	"sync"
)

// A client that does not read what it is sent is disconnected rather than queued for without bound.
const maxQueuedBytes = 1024 * 1024

// What a burst may leave behind for the next one.
const keptPieces = 256

// outbox is the queue of what one client is sent. Queueing never waits; one goroutine writes, everything that was
// queued while it wrote at once.
type outbox struct {
	disconnect func() // has a write that is under way fail

	mu      sync.Mutex
	news    sync.Cond // there are pieces, or it ended
	pieces  net.Buffers
	queued  int // bytes of pieces, and of the batch that is being written
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

// end queues the last piece, or nothing. It reports false when the outbox has ended before.
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

// next waits for pieces; there are none when the outbox has ended. It takes the batch that was written before in
// exchange, to use its memory again.
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
