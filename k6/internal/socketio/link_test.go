package socketio

import (
	"slices"
	"strings"
	"testing"
	"time"
)

const openPacket = `0{"sid":"a","upgrades":[],"pingInterval":25000,"pingTimeout":20000,"maxPayload":65536}`

// feed gives a link messages, and returns what it answers and the first error.
func feed(link *Link, messages ...string) (answers []string, err error) {
	for _, message := range messages {
		_, err = link.Receive([]byte(message), func(text []byte) { answers = append(answers, string(text)) })
		if err != nil {
			return answers, err
		}
	}
	return answers, nil
}

func TestAClientAsksForTheNamespaceAndAnswersPings(t *testing.T) {
	var link Link
	answers, err := feed(&link, openPacket, "2", `40{"sid":"b"}`, "2", `42["draw",{}]`, "6", "430[]")
	if err != nil || !slices.Equal(answers, []string{"40", "3", "3"}) {
		t.Errorf("%q, %v", answers, err)
	}
	if link.Patience() != 45*time.Second {
		t.Errorf("patience %s", link.Patience())
	}
}

func TestAPacketOutOfPlaceIsAnErrorThatSaysWhy(t *testing.T) {
	const first = "an open packet has to be the first packet, and no other"
	const early = "an event or acknowledgement before the namespace is connected"
	for messages, want := range map[string]string{
		"2": first, "40": first, `42["a"]`: first, openPacket + " " + openPacket: first,
		openPacket + ` 42["a"]`:                               early,
		openPacket + ` 430[]`:                                 early,
		openPacket + " 40 40":                                 "a second answer to the connection of a namespace",
		openPacket + " 40 41 2":                               "a packet after the end",
		openPacket + " 1 2":                                   "a packet after the end",
		openPacket + ` 44{} 40`:                               "a packet after the end",
		openPacket + ` 40 42/b,["a"]`:                         `a packet of the namespace "/b", which this client did not`,
		`0{"sid":""}`:                                         "an open packet without sid",
		"0nonsense":                                           "the open packet: invalid character",
		`0{"sid":"a","pingInterval":0,"pingTimeout":1}`:       "an open packet with a pingInterval of 0 ms",
		`0{"sid":"a","pingInterval":1}`:                       "an open packet with a pingTimeout of 0 ms",
		`0{"sid":"a","pingInterval":1,"pingTimeout":3600001}`: "an open packet with a pingTimeout of 3600001 ms",
	} {
		var link Link
		_, err := feed(&link, strings.Split(messages, " ")...)
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, expected %s", messages, err, want)
		}
	}
}

func TestEachAcknowledgementCountsOnce(t *testing.T) {
	var acks Acks
	if err := acks.Answered(0); err == nil {
		t.Error("one that nobody asked for")
	}
	var ids []int64
	for range 3 {
		ids = append(ids, acks.Ask())
	}
	if !slices.Equal(ids, []int64{0, 1, 2}) {
		t.Errorf("ids %v", ids)
	}
	for _, id := range []int64{1, 0, 2} {
		if err := acks.Answered(id); err != nil {
			t.Error(err)
		}
		if err := acks.Answered(id); err == nil || !strings.HasPrefix(err.Error(), "a second acknowledgement") {
			t.Errorf("%d again: %v", id, err)
		}
	}
	for _, id := range []int64{3, -1, 1 << 40} {
		if err := acks.Answered(id); err == nil || !strings.HasSuffix(err.Error(), "which asked for none") {
			t.Errorf("%d: %v", id, err)
		}
	}
}

func TestAnAcknowledgementMayBeVeryLate(t *testing.T) {
	var acks Acks
	for range remembered + 1 {
		acks.Ask()
	}
	if err := acks.Answered(1); err != nil {
		t.Errorf("after %d others: %v", remembered-1, err)
	}
	if err := acks.Answered(0); err == nil || !strings.HasSuffix(err.Error(), "after 64 later ones") {
		t.Errorf("after %d others: %v", remembered, err)
	}
}
