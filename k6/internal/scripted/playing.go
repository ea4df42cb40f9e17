package scripted

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/gorilla/websocket"
)

func (s *GameServer) join(p *player, id, body string) {
	var asked struct{ RoomID, UserID string }
	_ = json.Unmarshal([]byte(body), &asked)
	s.mu.Lock()
	room := s.rooms[asked.RoomID]
	s.mu.Unlock()
	if room == nil || hit(s.joins.Add(1), s.faults.DenyEvery) || !s.enter(room, p, asked.UserID, id) {
		s.count(func(c *GameCounts) { c.Denied++ })
		p.write(fmt.Appendf(nil, `43%s[{"error":"no seat"}]`, id))
	}
}

// enter takes a player into a room that waits for players.
func (s *GameServer) enter(room *gameRoom, p *player, user, id string) bool {
	room.mu.Lock()
	defer room.mu.Unlock()
	if room.closed.Load() || len(room.players) == seats {
		return false
	}
	p.user, p.typed, p.mistakes = user, 0, 0
	p.room.Store(room)
	room.players = append(room.players, p)
	p.write(fmt.Appendf(nil, `43%s[{"roomId":%q,"userId":%q,"text":%q}]`, id, room.name, user, room.text))
	switch len(room.players) {
	case 1:
		time.AfterFunc(s.faults.Wait, func() {
			room.mu.Lock()
			defer room.mu.Unlock()
			s.close(room)
		})
	case seats:
		s.close(room)
	}
	return true
}

// close begins the countdown of a room. The caller holds its lock.
func (s *GameServer) close(room *gameRoom) {
	if room.closed.Swap(true) {
		return
	}
	names := make([]string, 0, seats)
	for _, p := range room.players {
		names = append(names, p.user)
	}
	players, _ := json.Marshal(names)
	room.tell(`42["pvp:countdown",{"roomId":%q,"milliseconds":%d,"players":%s}]`, room.name,
		s.faults.Countdown.Milliseconds(), players)
	if s.faults.NeverStart {
		return
	}
	time.AfterFunc(s.faults.Countdown, func() {
		room.mu.Lock()
		defer room.mu.Unlock()
		room.started = true
		room.tell(`42["pvp:start",{"roomId":%q}]`, room.name)
	})
}

// press processes a keystroke and sends its state to the room.
func (s *GameServer) press(p *player, body string) {
	var key struct {
		RoomID, Keys string
		Seq, SentAt  int64
	}
	_ = json.Unmarshal([]byte(body), &key)
	s.mu.Lock()
	room := s.rooms[key.RoomID]
	s.counts.Keystrokes++
	s.mu.Unlock()
	if room == nil {
		s.stray(p)
		return
	}
	room.mu.Lock()
	defer room.mu.Unlock()
	if room.over || !room.started || p.room.Load() != room || p.typed == len(room.text) {
		s.stray(p)
		return
	}
	if room.keys++; room.keys == s.faults.EndAt {
		s.count(func(c *GameCounts) { c.Cut++ })
		s.end(room)
		return
	}
	if key.Keys == room.text[p.typed:p.typed+1] {
		p.typed++
	} else {
		p.mistakes++
	}
	s.tellState(room, p, key.Seq, key.SentAt)
	if p.typed == len(room.text) {
		room.finished = append(room.finished, p.user)
	}
	s.endWhereFinished(room)
}

func (s *GameServer) stray(p *player) {
	s.count(func(c *GameCounts) { c.Keystrokes--; c.Strayed++ })
	p.write([]byte(`42["pvp:error",{"reason":"no game"}]`))
}

// tellState sends a state to every player of the room, or injects a fault.
func (s *GameServer) tellState(room *gameRoom, p *player, seq, sentAt int64) {
	state := func(room string, typed int) *websocket.PreparedMessage {
		text := fmt.Appendf(nil, `42["pvp:state",{"roomId":%q,"userId":%q,"seq":%d,"sentAt":%d,`, room, p.user, seq, sentAt)
		text = fmt.Appendf(text, `"typed":%d,"mistakes":%d}]`, typed, p.mistakes)
		message, err := websocket.NewPreparedMessage(websocket.TextMessage, text)
		if err != nil {
			panic(err) // a string always marshals
		}
		return message
	}
	right := state(room.name, p.typed)
	for _, each := range room.players {
		number := s.number.Add(1)
		switch f := s.faults; {
		case hit(number, f.DropEvery):
			s.count(func(c *GameCounts) { c.Dropped++ })
			continue
		case hit(number, f.MiscountEvery):
			s.count(func(c *GameCounts) { c.Miscounted++ })
			each.prepared(state(room.name, p.typed+1))
			continue
		case hit(number, f.CrossEvery):
			s.count(func(c *GameCounts) { c.Crossed++ })
			each.prepared(state("r-0", p.typed))
			continue
		case hit(number, f.DuplicateEvery):
			s.count(func(c *GameCounts) { c.Duplicated++ })
			each.prepared(right)
		}
		s.deliveries.Add(1)
		each.prepared(right)
	}
}

func (p *player) prepared(message *websocket.PreparedMessage) {
	p.mu.Lock()
	defer p.mu.Unlock()
	_ = p.conn.WritePreparedMessage(message)
}

// endWhereFinished ends a room whose players have all typed everything. The caller holds its lock.
func (s *GameServer) endWhereFinished(room *gameRoom) {
	types := func(p *player) bool { return p.typed < len(room.text) }
	if room.started && !s.faults.NeverEnd && len(room.players) > 0 && !slices.ContainsFunc(room.players, types) {
		s.end(room)
	}
}

// end ends a room. The caller holds its lock.
func (s *GameServer) end(room *gameRoom) {
	if room.over {
		return
	}
	room.over = true
	places := room.finished
	for _, p := range room.players {
		p.room.Store(nil)
		if !slices.Contains(places, p.user) {
			places = append(places, p.user)
		}
	}
	named, _ := json.Marshal(places)
	room.tell(`42["pvp:over",{"roomId":%q,"places":%s}]`, room.name, named)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counts.Ended++
	delete(s.rooms, room.name)
}

// leave takes a player out of its room.
func (s *GameServer) leave(p *player) {
	room := p.room.Load()
	if room == nil {
		return
	}
	room.mu.Lock()
	defer room.mu.Unlock()
	room.players = slices.DeleteFunc(room.players, func(other *player) bool { return other == p })
	s.endWhereFinished(room)
}

// pong answers a ping, or injects a fault.
func (s *GameServer) pong(p *player, id, body string) {
	number := s.pings.Add(1)
	s.count(func(c *GameCounts) { c.Pings++ })
	give := func(id, body string) { p.write(fmt.Appendf(nil, "43%s[%s]", id, body)) }
	switch f := s.faults; {
	case hit(number, f.UnansweredEvery):
		s.count(func(c *GameCounts) { c.Unanswered++ })
		return
	case hit(number, f.ForeignEvery):
		s.count(func(c *GameCounts) { c.Misanswered++ })
		give(strconv.Itoa(987_653), body)
		return
	case hit(number, f.AlteredEvery):
		s.count(func(c *GameCounts) { c.Altered++ })
		give(id, `{"sentAt":1}`)
		return
	case hit(number, f.TwiceEvery):
		s.count(func(c *GameCounts) { c.AnsweredTwice++ })
		give(id, body)
	}
	give(id, body)
}
