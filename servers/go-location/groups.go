package main

import (
	"errors"
	"sync"
	"time"
)

const maxUsers = 64

// How long a group without listeners is kept.
const keptFor = 60 * time.Second

// How often the server looks for groups that need not be kept.
const sweepEvery = 10 * time.Second

var errFull = errors.New("the group has 64 users")

// listener receives every position of the others. It must not wait.
type listener interface {
	tell(*news)
}

// groups finds groups by their names.
type groups struct {
	mu     sync.RWMutex
	byName map[string]*group
}

// group holds the newest position of each user, and the listeners.
type group struct {
	mu        sync.Mutex
	version   int64
	newest    map[string]entry
	listeners map[listener]string // with their users
	usedAt    time.Time
}

type entry struct {
	version  int64
	position []byte // JSON, with the user
}

// with calls use with the group of that name while no other caller uses it.
func (g *groups) with(name string, use func(*group)) {
	for {
		g.mu.RLock()
		found := g.byName[name]
		if found != nil {
			found.mu.Lock() // before a sweep can remove it
			g.mu.RUnlock()
			defer found.mu.Unlock()
			use(found)
			return
		}
		g.mu.RUnlock()
		g.add(name)
	}
}

func (g *groups) add(name string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.byName[name] == nil {
		g.byName[name] = &group{
			newest: make(map[string]entry), listeners: make(map[listener]string), usedAt: time.Now(),
		}
	}
}

// sweep removes groups that have been unused for long enough.
func (g *groups) sweep(now time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for name, each := range g.byName {
		each.mu.Lock()
		if len(each.listeners) == 0 && now.Sub(each.usedAt) > keptFor {
			delete(g.byName, name)
		}
		each.mu.Unlock()
	}
}

// count returns how many groups and listeners there are.
func (g *groups) count() (count, listeners int) {
	g.mu.RLock()
	defer g.mu.RUnlock()
	for _, each := range g.byName {
		each.mu.Lock()
		listeners += len(each.listeners)
		each.mu.Unlock()
	}
	return len(g.byName), listeners
}

// put stores a position, which is JSON with its user, and sends it to the others.
func (g *group) put(user string, position []byte) error {
	if _, known := g.newest[user]; !known && len(g.newest) == maxUsers {
		return errFull
	}
	g.version++
	g.usedAt = time.Now()
	g.newest[user] = entry{g.version, position}
	var told *news
	for each, listening := range g.listeners {
		if listening == user {
			continue
		}
		if told == nil {
			told = newNews(g.version, position)
		}
		each.tell(told)
	}
	return nil
}

// since returns the newest positions of the others after a version. For a version that the group has not reached, it
// returns all of them.
func (g *group) since(user string, version int64) *news {
	if version > g.version {
		version = 0
	}
	var positions [][]byte
	for each, entry := range g.newest {
		if each != user && entry.version > version {
			positions = append(positions, entry.position)
		}
	}
	return newNews(g.version, positions...)
}

// hasSince reports whether since would return positions, or the group has not reached the version.
func (g *group) hasSince(user string, version int64) bool {
	for each, entry := range g.newest {
		if each != user && entry.version > version {
			return true
		}
	}
	return version > g.version
}

func (g *group) listen(each listener, user string) { g.listeners[each] = user }

func (g *group) leave(each listener) {
	delete(g.listeners, each)
	g.usedAt = time.Now()
}
