package protocol

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"time"

	"github.com/pushbench/pushbench/k6/internal/http1"
)

// matchmaking asks the server of a typing game for a room, with one request over a connection of its own.
type matchmaking struct {
	silent
	request []byte
	answers answers
	room    string
}

// mostID is the largest number of characters in an id.
const mostID = 64

var errKeystroke = errors.New("a keystroke on the connection of the matchmaking")

func newMatchmaking(target *url.URL, id Identity) Session {
	k := newKeystrokes(id)
	// The target's path is that of Socket.IO, which shares its root with the matchmaking.
	root := target.EscapedPath()[:len(target.EscapedPath())-len("/socket.io/")]
	return &matchmaking{request: mustAppend(nil, &http1.Request{
		Method: "POST", Target: root + "/api/pvp/matchmake", Host: target.Host,
		Fields: []http1.Field{{Name: "Content-Type", Value: "application/json"}, {Name: "Connection", Value: "close"}},
		Body:   fmt.Appendf(nil, `{"userId":%q,"characters":%d}`, k.user(), id.Length),
	})}
}

// Join implements Session, as do the methods below.
func (m *matchmaking) Join(buf []byte) []byte {
	m.answers.asked = append(m.answers.asked, askedNews)
	return append(buf, m.request...)
}

func (m *matchmaking) Message([]byte, uint32, time.Duration) []byte { panic(errKeystroke) }

func (m *matchmaking) Next(data []byte, event *Event) (int, error) {
	*event = Event{}
	_, found, taken, err := m.answers.next(data)
	if found {
		m.answered(event)
	}
	return taken, err
}

func (m *matchmaking) answered(event *Event) {
	if status := m.answers.reader.Status(); status != 200 {
		event.Kind, event.Reason = Denied, "matchmaking: HTTP "+strconv.Itoa(status)
		return
	}
	var said struct{ RoomID string }
	if err := json.Unmarshal(m.answers.body, &said); err != nil || !isID(said.RoomID) {
		event.Kind, event.Reason = Denied, fmt.Sprintf("matchmaking: no room in %.60q", m.answers.body)
		return
	}
	m.room, event.Kind = said.RoomID, Matched
}

// Group implements Matcher.
func (m *matchmaking) Group() string { return m.room }

// isID reports whether a text is an id: 1 to 64 letters, digits, hyphens and underscores.
func isID(text string) bool {
	for _, c := range []byte(text) {
		letter := c|0x20 >= 'a' && c|0x20 <= 'z'
		if !letter && (c < '0' || c > '9') && c != '-' && c != '_' {
			return false
		}
	}
	return text != "" && len(text) <= mostID
}
