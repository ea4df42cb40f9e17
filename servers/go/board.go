package main

import "sync"

// boards maps ids to the boards that clients join. Draws bypass it: a client keeps references to its boards.
type boards struct {
	mu   sync.Mutex
	byID map[string]*board
}

// board holds the members of a board, and sends one frame to all of them.
type board struct {
	id      string
	mu      sync.RWMutex
	members map[*client]struct{}
}

func (b *boards) join(id string, member *client) *board {
	b.mu.Lock()
	defer b.mu.Unlock()
	joined := b.byID[id]
	if joined == nil {
		joined = &board{id: id, members: make(map[*client]struct{})}
		b.byID[id] = joined
	}
	joined.mu.Lock()
	joined.members[member] = struct{}{}
	joined.mu.Unlock()
	return joined
}

func (b *boards) leave(left *board, member *client) {
	b.mu.Lock()
	defer b.mu.Unlock()
	left.mu.Lock()
	delete(left.members, member)
	empty := len(left.members) == 0
	left.mu.Unlock()
	if empty {
		delete(b.byID, left.id)
	}
}

// broadcast returns how many bytes are queued for the member that is furthest behind.
func (b *board) broadcast(frame []byte) (queued int) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	for member := range b.members {
		queued = max(queued, member.outbox.push(frame))
	}
	return queued
}
