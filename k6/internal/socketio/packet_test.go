package socketio

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
)

func TestPacketsAreReadAsTheProtocolDefinesThem(t *testing.T) {
	root := []byte("/")
	for message, want := range map[string]Packet{
		`0{"sid":"a"}`: {Kind: Open, ID: NoID, Data: []byte(`{"sid":"a"}`)},
		"1":            {Kind: Close, ID: NoID},
		"2":            {Kind: Ping, ID: NoID, Data: []byte{}},
		"2probe":       {Kind: Ping, ID: NoID, Data: []byte("probe")},
		"6":            {Kind: Noop, ID: NoID},
		`40{"sid":"b"}`: {Kind: Connect, Namespace: root, ID: NoID,
			Data: []byte(`{"sid":"b"}`)},
		"40/admin,":          {Kind: Connect, Namespace: []byte("/admin"), ID: NoID, Data: []byte{}},
		"41":                 {Kind: Disconnect, Namespace: root, ID: NoID, Data: []byte{}},
		"41/admin":           {Kind: Disconnect, Namespace: []byte("/admin"), ID: NoID, Data: []byte{}},
		`44{"message":"no"}`: {Kind: ConnectError, Namespace: root, ID: NoID, Data: []byte(`{"message":"no"}`)},
		`42["draw",{"a":1},2]`: {Kind: Event, Namespace: root, ID: NoID, Name: []byte("draw"),
			Data: []byte(`{"a":1},2`)},
		`4217["draw"]`: {Kind: Event, Namespace: root, ID: 17, Name: []byte("draw")},
		`42/admin,5["a\"b",[]]`: {Kind: Event, Namespace: []byte("/admin"), ID: 5, Name: []byte(`a\"b`),
			Data: []byte("[]")},
		`430[]`:                {Kind: Ack, Namespace: root, ID: 0, Data: []byte{}},
		`43/a,12[null]`:        {Kind: Ack, Namespace: []byte("/a"), ID: 12, Data: []byte("null")},
		`43999999999999999[1]`: {Kind: Ack, Namespace: root, ID: 999_999_999_999_999, Data: []byte("1")},
	} {
		if got, err := Read([]byte(message)); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, %v\nexpected %+v", message, got, err, want)
		}
	}
}

func TestWhatIsNoPacketIsAnErrorThatSaysWhy(t *testing.T) {
	for message, want := range map[string]string{
		"": "an empty packet", "4": "an empty packet",
		"3":                              `a packet of the engine of type "3", which servers do not send`,
		"5":                              `a packet of the engine of type "5", which servers do not send`,
		"x":                              `a packet of the engine of type "x", which servers do not send`,
		"bAQID":                          "a binary packet, where only text is spoken",
		`451-["a",{}]`:                   "a binary packet, where only text is spoken",
		`461-1[{}]`:                      "a binary packet, where only text is spoken",
		"47":                             `a packet of the unknown type "7"`,
		"4x":                             `a packet of the unknown type "x"`,
		"42":                             "a packet whose arguments are no JSON array",
		`42"draw"`:                       "a packet whose arguments are no JSON array",
		`42["draw"`:                      "a packet whose arguments are no JSON array",
		`42["draw"x]`:                    "a packet whose arguments are no JSON array",
		`42["draw",]`:                    "a packet whose arguments are no JSON array",
		`42[`:                            "a packet whose arguments are no JSON array",
		`42[]`:                           "an event without a name",
		`42[7]`:                          "an event without a name",
		`42["draw\"]`:                    "an event without a name",
		`43[1]`:                          "an acknowledgement without an id",
		`431`:                            "a packet whose arguments are no JSON array",
		`421234567890123456[`:            "an id of more than 15 digits",
		"40/" + strings.Repeat("n", 256): "a namespace of 257 bytes, more than 256",
	} {
		if got, err := Read([]byte(message)); err == nil || err.Error() != want {
			t.Errorf("%.60s: %+v, %v, expected %s", message, got, err, want)
		}
	}
}

func TestWhatIsWrittenIsReadAgain(t *testing.T) {
	for _, id := range []int64{NoID, 0, 17} {
		event := AppendEnd(append(AppendEvent([]byte("before"), "draw", id), "{}"...))
		got, err := Read(event[len("before"):])
		if err != nil || got.Kind != Event || got.ID != id || string(got.Name) != "draw" || string(got.Data) != "{}" {
			t.Errorf("%s: %+v, %v", event, got, err)
		}
	}
	for text, written := range map[string][]byte{
		"40": AppendConnect(nil), "41": AppendDisconnect(nil), "3probe": AppendPong(nil, []byte("probe")),
	} {
		if string(written) != text {
			t.Errorf("%q, expected %q", written, text)
		}
	}
}

func TestReadingAllocatesNothing(t *testing.T) {
	var link Link
	send := func([]byte) {}
	for _, text := range []string{`0{"sid":"a","pingInterval":1,"pingTimeout":1}`, "40"} {
		if _, err := link.Receive([]byte(text), send); err != nil {
			t.Fatal(err)
		}
	}
	for _, text := range []string{`42["draw",{"a":1}]`, `4312[{"a":1}]`, "2"} {
		message := []byte(text)
		allocated := testing.AllocsPerRun(100, func() {
			if _, err := link.Receive(message, send); err != nil {
				t.Fatal(err)
			}
		})
		if allocated != 0 {
			t.Errorf("%s: %.1f allocations", text, allocated)
		}
	}
}

func BenchmarkRead(b *testing.B) {
	b.ReportAllocs()
	message := append(AppendEvent(nil, "draw", NoID), bytes.Repeat([]byte("x"), 280)...)
	message = AppendEnd(message)
	for b.Loop() {
		if _, err := Read(message); err != nil {
			b.Fatal(err)
		}
	}
}
