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

// Rooms are groups that the server names: a client asks for one, plays a game in it, and asks for the next one when the
// game is over. All clients of a room belong to the same loop, because each loop asks for games of a length of its own.

// roomPlaces is how many clients may be in a room over its lifetime; six have a seat, and some may have left.
const roomPlaces = 64

// courseTimeout is how long a client waits for the start of a game that it has joined, and for the end of a game in
// which it has typed everything. Other clients of the room may take longer if their keys arrive like those of
// independent users.
const courseTimeout = 30 * time.Second

// rooms are a loop's rooms by name.
type rooms map[string]*room

// room is a group and the clients that are in it.
type room struct {
	name    string
	group   *ledger.Group
	players []*client // by slot; nil if the client has left
	numbers []int     // client numbers by slot, whether the clients have left or not
	over    bool      // a client has received the end of the game
	gone    bool      // no client in it is connected any more
}

// Rooms counts the rooms that began and ended in a steady window.
type Rooms struct {
	Begun int64 `json:"begun"`
	Ended int64 `json:"ended"`
}

// slotOf returns the slot of a client; -1 if it never was in the room.
func (r *room) slotOf(number int) int {
	if r == nil {
		return -1
	}
	return slices.Index(r.numbers, number)
}

// game is a client's state in a room, or on the way into one.
type game struct {
	room  *room         // nil if the client is in none
	next  string        // the room that it asks to join
	left  int           // messages still to send
	rests bool          // the client has nothing to send now
	limit time.Duration // when the client's time limit ends; never if it has none
}

// part returns the number of a generator among those that share the clients, from its segment, such as 1/4:1/2.
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

// length returns the length of the games that the loop's clients ask for. No other loop asks for the same length, in
// this generator or another, so the server never puts clients of two loops into one room.
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

// pressed records a key that was due then. After the last key of the game the client has nothing to send.
func (c *client) pressed(due time.Duration) {
	if c.playing.left--; c.playing.left == 0 {
		c.playing.rests, c.playing.limit = true, due+courseTimeout
	}
}

// gameOver takes a client out of a room that is over, and makes it ask for the next one. Everything still owed to the
// client is lost, because the end comes last. A server that ends a game early does less work, so that counts as
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

// vacate removes a client from a room, and drops the room once no client in it is connected.
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

// abandonRooms drops all rooms.
func (l *loop) abandonRooms() {
	l.gauges.groups.Add(-int64(len(l.rooms)))
	clear(l.rooms)
}

// rooms sums the counts of a stage; nil if the server names no groups.
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
