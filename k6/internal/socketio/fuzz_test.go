package socketio

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// events matches events and acknowledgements as the protocol describes them: a namespace that ends at the first comma,
// an id, and a JSON array.
var events = regexp.MustCompile(`^4([23])(?s:(?:(/[^,]*),)?)([0-9]*)((?s:\[.*\]))$`)

// reference reads an event or acknowledgement; ok is false for anything else, or if it is not JSON.
func reference(text string) (kind, namespace, id string, arguments []json.RawMessage, ok bool) {
	parts := events.FindStringSubmatch(text)
	if parts == nil || json.Unmarshal([]byte(parts[4]), &arguments) != nil {
		return "", "", "", nil, false
	}
	return parts[1], parts[2], parts[3], arguments, true
}

// FuzzPacket compares the reader with the reference: both read well-formed packets alike.
func FuzzPacket(f *testing.F) {
	for _, text := range []string{
		openPacket, "2", "40", `40/admin,{"sid":"b"}`, `42["draw",{"a":[1,2]},"]"]`, `4217["a\"b"]`,
		`43/a,1[null]`,
		`42/,["a" , 1]`, `451-["a",{"_placeholder":true,"num":0}]`, `44{"message":"no"}`, `42["",0]`, "bAQID",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := Read(data)
		if kind, namespace, id, arguments, ok := reference(string(data)); ok {
			isRead(t, got, err, kind, namespace, id, arguments)
		}
		if err == nil && !strings.HasSuffix(string(data), string(got.Data)+strings.Repeat("]", got.brackets())) {
			t.Errorf("%q was read as %+v", data, got)
		}
	})
}

// isRead compares what was read with the parts of a well-formed packet.
func isRead(t *testing.T, got Packet, err error, kind, namespace, id string, arguments []json.RawMessage) {
	t.Helper()
	var name string
	isEvent := kind == "2"
	named := len(arguments) > 0 && json.Unmarshal(arguments[0], &name) == nil && arguments[0][0] == '"'
	switch {
	case isEvent && !named, !isEvent && id == "", len(id) > maxDigits, len(namespace) > maxNamespace:
		if err == nil {
			t.Errorf("%+v, expected an error", got)
		}
		return
	case err != nil:
		t.Fatal(err)
	}
	whole := "[" + string(got.Data) + "]"
	if isEvent {
		arguments = arguments[1:]
		var read string
		if json.Unmarshal([]byte(`"`+string(got.Name)+`"`), &read) != nil || read != name {
			t.Errorf("the name %q, expected %q", got.Name, name)
		}
	}
	var read []json.RawMessage
	if err := json.Unmarshal([]byte(whole), &read); err != nil || fmt.Sprintf("%s", read) != fmt.Sprintf("%s", arguments) {
		t.Errorf("%s: %v, expected %s", whole, err, arguments)
	}
	if want, _ := strconv.ParseInt("0"+id, 10, 64); id != "" && got.ID != want || id == "" && got.ID != NoID {
		t.Errorf("the id %d, expected %q", got.ID, id)
	}
	if want := max(namespace, "/"); string(got.Namespace) != want {
		t.Errorf("the namespace %q, expected %q", got.Namespace, want)
	}
}

// brackets returns how many brackets follow a packet's data.
func (p *Packet) brackets() int {
	if p.Kind == Event || p.Kind == Ack {
		return 1
	}
	return 0
}

// FuzzLink feeds arbitrary messages, one in each line: a link never panics, and answers each with at most one message.
func FuzzLink(f *testing.F) {
	f.Add([]byte(openPacket + "\n40\n2\n42[\"a\"]\n430[]\n41"))
	f.Add([]byte(openPacket + "\n44{}\n1"))
	f.Fuzz(func(t *testing.T, data []byte) {
		var link Link
		messages := strings.Split(string(data), "\n")
		answers, err := feed(&link, messages...)
		if len(answers) > len(messages) || err == nil && link.Patience() <= 0 {
			t.Errorf("%q: %q, %v, patience %s", data, answers, err, link.Patience())
		}
	})
}
