package engine

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pushbench/pushbench/k6/internal/ledger"
	"github.com/pushbench/pushbench/k6/internal/protocol"
)

// Rooms are groups that the server names: a client asks for one, plays a game in it, and asks for the next one when
// that is over. Every client of a room is of the same loop, for each loop asks for games of a length of its own.

// roomPlaces is how many clients may be in a room one after the other; six have a seat, and some may have left.
const roomPlaces = 64

// courseTimeout is how long a client waits for the start of a game that it has joined, and for the end of one in which
// it has typed everything. Others of the room may take longer where their keys come as independent users' do.
const courseTimeout = 30 * time.Second

// rooms are those of a loop by their names.
type rooms map[string]*room

// room is a group and the clients that are in it.
type room struct {
	name    string
	group   *ledger.Group
	players []*client // by slot; nil where one has left
	numbers []int     // of the clients, by slot, whether they have left or not
	over    bool      // somebody has heard of the end
	gone    bool      // nobody is in it any more whom the server can reach
}

// Rooms counts the rooms that began and ended in a steady window.
type Rooms struct {
	Begun int64 `json:"begun"`
	Ended int64 `json:"ended"`
}

// slotOf is the slot of a client; -1 of one that never was in the room.
func (r *room) slotOf(number int) int {
	if r == nil {
		return -1
	}
	return slices.Index(r.numbers, number)
}

// game is a client's state in a room, or on the way into one.
type game struct {
	room  *room         // nil where it is in none
	next  string        // the room that it asks to join
	left  int           // so many messages it still has to send
	rests bool          // it has nothing to send now
	limit time.Duration // when it has to be looked after; never where it has not
}

// part is the number of a generator among those that share the clients, from its segment, such as 1/4:1/2.
func part(segment string) int {
	begin, end, _ := strings.Cut(segment, ":")
	from, to := fraction(begin), fraction(end)
	if to <= from {
		return 0
	}
	return int(from/(to-from) + 0.5)
}

func fraction(text string) float64 {
	above, below, found := strings.Cut(text, "/")
	number, err := strconv.ParseFloat(above, 64)
	if err != nil || !found {
		return number
	}
	divisor, err := strconv.ParseFloat(below, 64)
	if err != nil {
		return 0
	}
	return number / divisor
}

// length is how long the games are that the loop's clients ask for. No other loop asks for the same, here or in another
// generator, so the server never puts their clients into one room.
func (l *loop) length(p *population) int {
	if l.rooms == nil {
		return 0
	}
	return p.Groups.Length + l.engine.part*l.engine.config.Loops + l.index
}

// entered puts a client into the room that it asked for.
func (l *loop) entered(c *client, now time.Duration) {
	name := c.playing.next
	r := l.rooms[name]
	if r == nil || r.over {
		r = &room{name: name, group: l.ledger.NewGroup(roomPlaces, ledger.Terms{})}
		l.rooms[name] = r
		l.gauges.groups.Add(1)
		if stage := l.engine.stageOf(now); stage != ledger.Unmeasured {
			l.courses[stage].Begun++
		}
	}
	if len(r.numbers) == roomPlaces {
		l.forsake(c, fmt.Errorf("a room that took %d clients", roomPlaces+1), now)
		return
	}
	if seats := c.population.Groups.Size; r.group.Count() >= seats {
		l.corrupt(c, fmt.Sprintf("the join of a room with %d others", r.group.Count()), now)
	}
	c.slot = len(r.numbers)
	r.numbers, r.players = append(r.numbers, c.number), append(r.players, c)
	c.place = r.group.Place(c.slot)
	c.place.Join()
	left := c.session.(protocol.Player).Game()
	c.playing = game{room: r, left: left, rests: true, limit: now + courseTimeout}
	if c.state != member {
		c.state = member
		l.count(c)
		c.askJoined(now)
		l.settle(c, now)
	}
	l.scheduleNext(c)
}

// begun makes a client type from now on.
func (l *loop) begun(c *client, now time.Duration) {
	if c.playing.room == nil {
		return
	}
	c.playing.rests, c.playing.limit = false, never
	c.messages.SkipTo(now)
	l.scheduleNext(c)
}

// pressed books a key that was due then. After the last one of the game the client has nothing to send.
func (c *client) pressed(due time.Duration) {
	if c.playing.left--; c.playing.left == 0 {
		c.playing.rests, c.playing.limit = true, due+courseTimeout
	}
}

// gameOver takes a client out of a room that is over, and makes it ask for the next one. Everything still owed to the
// client is lost, because the end comes last. A server that ends a game early makes itself less work, so that counts as
// corrupt.
func (l *loop) gameOver(c *client, now time.Duration) {
	r := c.playing.room
	if r == nil {
		return
	}
	r.over = true
	types := func(p *client) bool { return p != nil && p.state == member && p.playing.left > 0 }
	if slices.ContainsFunc(r.players, types) {
		l.corrupt(c, "the end of a game in which somebody still types", now)
	}
	c.place.End()
	l.vacate(c, r)
	c.playing = game{rests: true, limit: never}
	if now >= c.population.End {
		l.scheduleNext(c)
		return
	}
	c.deadline = now + connectTimeout
	l.match(c, now)
}

// exit takes a leaving client out of its room. Messages in flight to it are no longer owed.
func (l *loop) exit(c *client) {
	if l.over(c.population) {
		return
	}
	if r := c.playing.room; r != nil {
		c.place.Leave()
		l.vacate(c, r)
	}
	c.askLeft()
}

// vacate takes a client off the list of a room, and forgets the room where nobody is left whom the server can reach.
func (l *loop) vacate(c *client, r *room) {
	r.players[c.slot] = nil
	c.playing.room = nil
	reached := func(p *client) bool { return p != nil && p.state == member }
	if r.gone || slices.ContainsFunc(r.players, reached) {
		return
	}
	r.gone = true
	r.group.End()
	l.gauges.groups.Add(-1)
	if l.rooms[r.name] == r {
		delete(l.rooms, r.name)
	}
	if stage := l.engine.stageOf(l.now()); r.over && stage != ledger.Unmeasured {
		l.courses[stage].Ended++
	}
}

// abandonRooms forgets all rooms.
func (l *loop) abandonRooms() {
	l.gauges.groups.Add(-int64(len(l.rooms)))
	clear(l.rooms)
}

// rooms sums those of a stage; nil where the server names no groups.
func (e *Engine) rooms(stage int) *Rooms {
	if !e.protocol.Matched {
		return nil
	}
	sum := &Rooms{}
	for _, l := range e.loops {
		sum.Begun += l.courses[stage].Begun
		sum.Ended += l.courses[stage].Ended
	}
	return sum
}
