package protocol

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// partSize is the number of client names in one part of a load: u-1000042 is client 42 of part 1.
const partSize = 1_000_000

// mistakePeriod is the number of keys from one wrong key to the next: one key in twenty is wrong, as for a person who
// types with 95 % accuracy.
const mistakePeriod = 20

// mistakes returns how many of the first keys of a game are wrong. Clients err at different keys.
func mistakes(client, keys int) int { return (keys + client%mistakePeriod) / mistakePeriod }

// typed returns how many of the first keys are right. A wrong key does not advance the player.
func typed(client, keys int) int { return keys - mistakes(client, keys) }

// keysOf returns how many keys a client presses to type a text of that length.
func keysOf(client, length int) int {
	keys := length
	for typed(client, keys) < length {
		keys++
	}
	return keys
}

// keystrokes writes the keystrokes of one client of the suite typing-game, and reads the states of all members of its
// room. docs/protocols.md describes both.
type keystrokes struct {
	id     Identity
	epoch  int64  // microseconds
	room   string // the client's room; "" if it is in none
	text   []rune
	head   []byte // the start of what it writes, up to and including `"seq":`
	prefix []byte // the start of what it reads, up to and including the user's "u-"
}

func newKeystrokes(id Identity) keystrokes {
	return keystrokes{id: id, epoch: id.Epoch.UnixMicro()}
}

// user returns the client's id.
func (k *keystrokes) user() string { return "u-" + strconv.Itoa(k.id.Part*partSize+k.id.Client) }

// begin puts the client into a room, where it types the text.
func (k *keystrokes) begin(room string, text []rune) {
	k.room, k.text = room, text
	k.head = fmt.Appendf(k.head[:0], `{"roomId":%q,"userId":%q,"seq":`, room, k.user())
	k.prefix = fmt.Appendf(k.prefix[:0], `{"roomId":%q,"userId":"u-`, room)
}

// leave takes the client out of its room.
func (k *keystrokes) leave() {
	k.room, k.text, k.prefix = "", nil, append(k.prefix[:0], '-') // no state begins with "-"
}

// append writes key number seq of the game.
func (k *keystrokes) append(buf []byte, seq uint32, due time.Duration) []byte {
	buf = strconv.AppendUint(append(buf, k.head...), uint64(seq), 10)
	buf = strconv.AppendInt(append(buf, `,"sentAt":`...), k.epoch+due.Microseconds(), 10)
	return append(append(append(buf, `,"keys":`...), k.key(int(seq))...), '}')
}

// key is the client's next key as JSON: the next character of the text, or intentionally another one.
func (k *keystrokes) key(seq int) []byte {
	client := k.id.Client
	next := k.text[typed(client, seq)]
	if mistakes(client, seq+1) > mistakes(client, seq) {
		wrong := 'x'
		if next == wrong {
			wrong = 'y'
		}
		next = wrong
	}
	key, err := json.Marshal(string(next))
	if err != nil {
		panic(err) // a string always marshals
	}
	return key
}

// state is a room's message about one key of one member.
type state struct {
	RoomID, UserID               string
	Seq, SentAt, Typed, Mistakes int64
}

// parse reads a state, in the form that most servers write or in any form of JSON.
func (k *keystrokes) parse(text []byte, event *Event) {
	if rest, ok := bytes.CutPrefix(text, k.prefix); ok {
		s := scan{rest: rest, ok: true}
		var found state
		user := s.number()
		s.skip(`","seq":`)
		found.Seq = s.number()
		s.skip(`,"sentAt":`)
		found.SentAt = s.number()
		s.skip(`,"typed":`)
		found.Typed = s.number()
		s.skip(`,"mistakes":`)
		found.Mistakes = s.number()
		s.skip("}")
		if s.ok && len(s.rest) == 0 {
			k.told(user, &found, event)
			return
		}
	}
	k.parseAny(text, event)
}

func (k *keystrokes) parseAny(text []byte, event *Event) {
	var found state
	if err := json.Unmarshal(text, &found); err != nil {
		event.corrupt("no state: %.60q", text)
		return
	}
	user, err := strconv.ParseInt(strings.TrimPrefix(found.UserID, "u-"), 10, 64)
	switch {
	case found.RoomID != k.room || k.room == "":
		event.corrupt("a state of room %.40q to a client in %.40q", found.RoomID, k.room)
	case err != nil || found.Seq < 0 || found.Seq > 1<<31:
		event.corrupt("a state of key %d of %.40q", found.Seq, found.UserID)
	default:
		k.told(user, &found, event)
	}
}

// told interprets the state that belongs to one key of a user.
func (k *keystrokes) told(user int64, found *state, event *Event) {
	client, keys := int(user%partSize), int(found.Seq)+1
	if user/partSize != int64(k.id.Part) {
		event.corrupt("a state of u-%d, whom this client cannot meet", user)
		return
	}
	if int(found.Typed) != typed(client, keys) || int(found.Mistakes) != mistakes(client, keys) {
		event.corrupt("%d typed and %d mistakes after key %d of u-%d", found.Typed, found.Mistakes, found.Seq, user)
		return
	}
	event.Kind, event.Sender, event.Seq = Delivery, client, uint32(found.Seq)
	event.SentAt = time.Duration(found.SentAt-k.epoch) * time.Microsecond
}

var errMembers = errors.New("the client is missing, or somebody is named twice")

// among checks that a server's list of members contains the client, and no member twice.
func (k *keystrokes) among(members []string) error {
	seen := map[string]bool{}
	for _, member := range members {
		if seen[member] {
			return errMembers
		}
		seen[member] = true
	}
	if !seen[k.user()] {
		return errMembers
	}
	return nil
}
