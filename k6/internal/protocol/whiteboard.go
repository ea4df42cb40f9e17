package protocol

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// stroke is the stroke of every client: 20 points, as a pen leaves in a third of a second, which makes draws of 250-300
// bytes.
const stroke = `[[412,288],[415,287],[419,285],[424,284],[430,282],[437,281],[445,280],[453,280],[461,281],[469,283],` +
	`[476,286],[482,290],[487,295],[491,301],[494,308],[496,316],[497,324],[497,332],[496,340],[494,348]]`

var drawSuffix = []byte(`,"stroke":` + stroke + `}`)

// draw writes and reads the draw messages of one board. Servers return them byte for byte, which is the fast path of
// parse, or as equivalent JSON.
type draw struct {
	prefix []byte // up to and including the user's "u-"
	epoch  int64  // microseconds
	board  string
}

func newDraw(id Identity) draw {
	return draw{
		prefix: fmt.Appendf(nil, `{"type":"draw","boardId":%q,"userId":"u-`, id.Group),
		epoch:  id.Epoch.UnixMicro(),
		board:  id.Group,
	}
}

func (d *draw) append(buf []byte, client int, seq uint32, sentAt time.Duration) []byte {
	buf = strconv.AppendInt(append(buf, d.prefix...), int64(client), 10)
	buf = strconv.AppendUint(append(buf, `","seq":`...), uint64(seq), 10)
	buf = strconv.AppendInt(append(buf, `,"sentAt":`...), d.epoch+sentAt.Microseconds(), 10)
	return append(buf, drawSuffix...)
}

func (d *draw) parse(text []byte, event *Event) {
	if rest, ok := bytes.CutPrefix(text, d.prefix); ok {
		client, rest, ok1 := number(rest)
		rest, ok2 := bytes.CutPrefix(rest, []byte(`","seq":`))
		seq, rest, ok3 := number(rest)
		rest, ok4 := bytes.CutPrefix(rest, []byte(`,"sentAt":`))
		sentAt, rest, ok5 := number(rest)
		if ok1 && ok2 && ok3 && ok4 && ok5 && bytes.Equal(rest, drawSuffix) {
			d.delivered(client, seq, sentAt, event)
			return
		}
	}
	d.parseAny(text, event)
}

func (d *draw) delivered(client, seq, sentAt int64, event *Event) {
	event.Kind = Delivery
	event.Sender, event.Seq, event.SentAt = int(client), uint32(seq), time.Duration(sentAt-d.epoch)*time.Microsecond
}

// number reads the digits at the start of text.
func number(text []byte) (int64, []byte, bool) {
	var n int64
	i := 0
	for ; i < len(text) && i < 18 && text[i]-'0' <= 9; i++ {
		n = n*10 + int64(text[i]-'0')
	}
	return n, text[i:], i > 0
}

// parseAny reads every other message of the suite, and draws that a server has re-serialised.
func (d *draw) parseAny(text []byte, event *Event) {
	var message struct {
		Type, BoardID, UserID, Reason string
		Seq, SentAt                   int64
		Stroke                        json.RawMessage
	}
	if err := json.Unmarshal(text, &message); err != nil {
		event.corrupt("no JSON: %.60q", text)
		return
	}
	user, err := strconv.ParseInt(strings.TrimPrefix(message.UserID, "u-"), 10, 32)
	switch message.Type {
	case "draw":
		var compact bytes.Buffer
		switch {
		case message.BoardID != d.board:
			event.corrupt("a stroke of board %.40q by %.40q", message.BoardID, message.UserID)
		case err != nil:
			event.corrupt("a stroke by %.40q", message.UserID)
		case json.Compact(&compact, message.Stroke) != nil || compact.String() != stroke:
			event.corrupt("an altered stroke by %.40q", message.UserID)
		default:
			d.delivered(user, message.Seq, message.SentAt, event)
		}
	case "joined", "join":
		event.Kind, event.Sender = Joined, int(user)
	case "error":
		event.refuse(message.Reason)
	default:
		event.corrupt("a message of type %.40q", message.Type)
	}
}

func init() {
	register("whiteboard-json", Protocol{path: "/ws", NewConversation: newWhiteboard})
}

// whiteboard is the protocol whiteboard-json: JSON text frames, as docs/protocols.md describes.
type whiteboard struct {
	draw
	id Identity
}

func newWhiteboard(id Identity) Conversation {
	return &whiteboard{newDraw(id), id}
}

func (w *whiteboard) Open(Send) bool { return true }

func (w *whiteboard) Join(send Send) bool {
	send(membership(nil, "join", w.id))
	return false
}

func (w *whiteboard) Leave(send Send) bool {
	send(membership(nil, "leave", w.id))
	return true
}

func (w *whiteboard) Receive(payload []byte, _ Send, event *Event) { w.parse(payload, event) }

func (w *whiteboard) Message(buf []byte, seq uint32, sentAt time.Duration) []byte {
	return w.append(buf, w.id.Client, seq, sentAt)
}

func membership(buf []byte, verb string, id Identity) []byte {
	return fmt.Appendf(buf, `{"type":%q,"boardId":%q,"userId":"u-%d"}`, verb, id.Group, id.Client)
}
