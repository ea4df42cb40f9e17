package declared

import (
	"encoding/json"
	"os"
	"testing"
)

// TestAnswersAreUnderstood plays the cases of testdata/answers.json, which the clients of `pushbench verify` read, too.
func TestAnswersAreUnderstood(t *testing.T) {
	text, err := os.ReadFile("testdata/answers.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases struct {
		Declaration Declaration
		Answers     []struct {
			Text, Is string
			Index    int64
		}
	}
	if err := json.Unmarshal(text, &cases); err != nil || len(cases.Answers) == 0 {
		t.Fatal(err)
	}
	p, err := Compile(cases.Declaration)
	if err != nil {
		t.Fatal(err)
	}
	reader := p.NewReader(own)
	kinds := map[Kind]string{
		Delivered: "delivered", Altered: "altered", Ignored: "ignored", Refused: "refused", Foreign: "foreign",
	}
	for _, each := range cases.Answers {
		got := reader.Event(nil, []byte(each.Text), own.With(7, 1000))
		if kinds[got.Kind] != each.Is || each.Is == "delivered" && got.Index != each.Index {
			t.Errorf("%+v, expected %s %d of %s", got, each.Is, each.Index, each.Text)
		}
	}
}

func TestWhereTheNumberOfATokenIs(t *testing.T) {
	d := Declaration{
		Format:  "text",
		Message: Message{Received: Receipt{Pattern: Pattern{Like: Template{{Value: "any"}}}}},
		Request: &Request{Method: "GET", Status: 200, Stream: &Stream{Receipts: 9, Number: EventID, End: "over"}},
	}
	p, err := Compile(d)
	if err != nil {
		t.Fatal(err)
	}
	reader := p.NewReader(own)
	for id, want := range map[string]Meaning{
		"0":  {Kind: Delivered, Index: 0},
		"12": {Kind: Delivered, Index: 12},
		"":   {Kind: Altered, At: "sse.number"},
		"a":  {Kind: Altered, At: "sse.number"},
		"1a": {Kind: Altered, At: "sse.number"},
		"-1": {Kind: Altered, At: "sse.number"},
		"01": {Kind: Altered, At: "sse.number"},
	} {
		got := reader.Event([]byte(id), []byte("x"), own.With(0, 0))
		if got.Kind != want.Kind || got.At != want.At || got.Kind == Delivered && got.Index != want.Index {
			t.Errorf("%+v, expected %+v of %q", got, want, id)
		}
	}
	if got := reader.Event(nil, []byte("over"), own); got.Kind != Ended {
		t.Errorf("%+v, expected the end", got)
	}
}
