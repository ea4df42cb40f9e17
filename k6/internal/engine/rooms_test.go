package engine

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// These tests feed a loop the bytes that a server sends, without waiting for them.

// takeSeat puts a client into the room of that number, whose game has that length. The server that the client connects
// to never answers.
func takeSeat(t testing.TB, l *loop, c *client, room, length int) {
	t.Helper()
	c.deadline = connectTimeout
	l.received(c, upgraded(t, c.session.Open(nil)), 0)
	say(l, c, 0, `0{"sid":"a","upgrades":[],"pingInterval":60000,"pingTimeout":60000,"maxPayload":65536}`)
	say(l, c, 0, `40{"sid":"b"}`)
	body := fmt.Sprintf(`{"roomId":"r-%d"}`, room)
	l.receivedAside(c, fmt.Appendf(nil, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(body), body), 0)
	say(l, c, 0, `430[{"roomId":"r-%d","userId":"u-%d","text":%q}]`, room, c.number, strings.Repeat("a", length))
	if c.playing.room == nil || c.state != member {
		t.Fatalf("client %d is in no room: %+v", c.number, c.playing)
	}
}

// say makes a client receive a text message at that time.
func say(l *loop, c *client, now time.Duration, format string, values ...any) {
	l.received(c, textFrame(nil, fmt.Appendf(nil, format, values...)), now)
}

// stateFrame appends what a server sends about key seq of a client.
func stateFrame(l *loop, buf []byte, c *client, seq uint32, due time.Duration) []byte {
	keys, wrong := int(seq)+1, (int(seq)+1+c.number%20)/20
	return textFrame(buf, fmt.Appendf(nil,
		`42["pvp:state",{"roomId":%q,"userId":"u-%d","seq":%d,"sentAt":%d,"typed":%d,"mistakes":%d}]`,
		c.playing.room.name, c.number, seq, l.engine.origin.UnixMicro()+due.Microseconds(), keys-wrong, wrong))
}

func TestAGameThatDoesNotStartIsLeft(t *testing.T) {
	l := benchLoop(t, "typing-game-socketio", typing(shortly), seats)
	c := l.clients[0]
	takeSeat(t, l, c, 0, shortly)
	playUntilLimit(l, c)
	if c.at != courseTimeout {
		t.Fatalf("the loop looks at the client after %s", c.at)
	}
	l.act(c, c.at)
	expectLeft(t, l, c, "a game did not start in time")
}

func TestAGameThatDoesNotEndIsLeft(t *testing.T) {
	l := benchLoop(t, "typing-game-socketio", typing(shortly), seats)
	c := l.clients[0]
	takeSeat(t, l, c, 0, shortly)
	say(l, c, time.Second, `42["pvp:start",{"roomId":"r-0"}]`)
	playUntilLimit(l, c)
	keys := c.place.Send(c.at, 0) // the number of the next key
	if int(keys) != shortly || c.at < courseTimeout+2*time.Second {
		t.Fatalf("%d keys, and the loop looks at the client after %s", keys, c.at)
	}
	l.act(c, c.at)
	expectLeft(t, l, c, "a game did not end in time")
}

// playUntilLimit makes a client do what is due until its time limit.
func playUntilLimit(l *loop, c *client) {
	for c.at != c.playing.limit {
		l.act(c, c.at)
	}
}

// expectLeft expects that a client has left its room, closed its connection, and will connect again.
func expectLeft(t *testing.T, l *loop, c *client, reason string) {
	t.Helper()
	gauges := &l.gauges
	if c.state != waiting || len(l.rooms) != 0 || gauges.members.Load() != 0 || gauges.groups.Load() != 0 {
		t.Errorf("state %d, %d rooms, %d members", c.state, len(l.rooms), gauges.members.Load())
	}
	if l.engine.collector.reasons[reason] != 1 || gauges.connectFailures.Load() != 1 || l.ledger.Outstanding() != 0 {
		t.Errorf("%v, %d failures", l.engine.collector.reasons, gauges.connectFailures.Load())
	}
}

func TestASeventhPlayerIsCorrupt(t *testing.T) {
	l := benchLoop(t, "typing-game-socketio", typing(shortly), seats+1)
	for number, c := range l.clients {
		takeSeat(t, l, c, 0, shortly)
		if got := l.ledger.Stage(0).Corrupt; got != int64(number/seats) {
			t.Errorf("%d corrupt after the join of client %d", got, number)
		}
	}
}

func TestPartsOfALoadAskForGamesOfOtherLengths(t *testing.T) {
	for segment, want := range map[string]int{
		"": 0, "0:1": 0, "0:1/2": 0, "1/2:1": 1, "0:1/3": 0, "1/3:2/3": 1, "2/3:1": 2, "3/4:1": 3,
	} {
		if got := part(segment); got != want {
			t.Errorf("segment %q: part %d, expected %d", segment, got, want)
		}
	}
	l := benchLoop(t, "typing-game-socketio", typing(shortly), seats)
	l.engine.part, l.engine.config.Loops, l.index = 2, 3, 1
	if got := l.length(l.engine.populations[0]); got != shortly+7 {
		t.Errorf("length %d", got)
	}
}

func TestARoomIsForgottenOnceThoughTheServerLostOneOfItsPlayers(t *testing.T) {
	l := benchLoop(t, "typing-game-socketio", typing(shortly), 2)
	lost, other := l.clients[0], l.clients[1]
	for _, c := range l.clients {
		takeSeat(t, l, c, 0, shortly)
		say(l, c, 0, `42["pvp:start",{"roomId":"r-0"}]`)
	}
	own, err := unix.Dup(lost.fd) // all clients share this descriptor here
	if err != nil {
		t.Fatal(err)
	}
	lost.fd = own
	l.drop(lost, io.EOF)
	for c := other; c.playing.left > 0; {
		l.act(c, c.at)
	}
	owed := l.ledger.Outstanding()
	say(l, other, 4*time.Second, `42["pvp:over",{"roomId":"r-0","places":["u-1"]}]`)
	if got := l.ledger.Stage(0); got.Corrupt != 0 || l.ledger.Outstanding() != 0 || owed != 2*shortly {
		t.Errorf("%+v, %d were owed, %d are: nobody waits for a player whom the server has lost", got, owed,
			l.ledger.Outstanding())
	}
	l.leave(lost)
	if groups := l.gauges.groups.Load(); groups != 0 || len(l.rooms) != 0 {
		t.Errorf("%d groups, %d rooms", groups, len(l.rooms))
	}
}
