package main

import (
	"maps"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
)

type fields = map[string]any

var (
	join = fields{"type": "join", "boardId": "b-17", "userId": "u-42"}
	draw = with(join, fields{"type": "draw", "seq": 0, "sentAt": 1764000000123456, "stroke": []any{[]any{1, 2.5}}})
)

func with(message, changes fields) fields {
	changed := maps.Clone(message)
	maps.Copy(changed, changes)
	return changed
}

func encoded(t *testing.T, message any) []byte {
	t.Helper()
	text, err := json.Marshal(message)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestGoodMessagesAreAccepted(t *testing.T) {
	for name, message := range map[string]fields{
		"a join":                      join,
		"a draw":                      draw,
		"a leave":                     with(join, fields{"type": "leave"}),
		"unknown fields":              with(draw, fields{"colour": "red", "SEQ": "7"}),
		"a join with a stroke":        with(join, fields{"stroke": "of luck", "seq": nil}),
		"64 characters, each 4 bytes": with(join, fields{"boardId": strings.Repeat("\U0001f600", 64)}),
	} {
		parsed, err := parseMessage(encoded(t, message))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if string(parsed.BoardID) != message["boardId"] || string(parsed.Type) != message["type"] {
			t.Errorf("%s: parsed as %+v", name, parsed)
		}
	}
}

func TestBadMessagesAreRefusedWithAReason(t *testing.T) {
	for name, test := range map[string]struct {
		message any
		reason  string
	}{
		"an array":               {[]any{join}, "a message must be a JSON object"},
		"null":                   {nil, "type must be"},
		"no type":                {fields{"boardId": "b-17", "userId": "u-42"}, "type must be"},
		"an unknown type":        {with(join, fields{"type": "erase"}), "type must be"},
		"a type in capitals":     {with(join, fields{"type": "JOIN"}), "type must be"},
		"a key in capitals":      {fields{"TYPE": "join", "boardId": "b-17", "userId": "u-42"}, "type must be"},
		"an empty boardId":       {with(join, fields{"boardId": ""}), "boardId must be"},
		"a long userId":          {with(join, fields{"userId": strings.Repeat("u", 65)}), "userId must be"},
		"a number as userId":     {with(join, fields{"userId": 42}), "userId must be"},
		"a negative seq":         {with(draw, fields{"seq": -1}), "seq must be"},
		"a fraction":             {with(draw, fields{"seq": 0.5}), "seq must be"},
		"a boolean seq":          {with(draw, fields{"seq": true}), "seq must be"},
		"a null seq":             {with(draw, fields{"seq": nil}), "seq must be"},
		"a string as sentAt":     {with(draw, fields{"sentAt": "1"}), "sentAt must be"},
		"an empty stroke":        {with(draw, fields{"stroke": []any{}}), "stroke must be"},
		"numbers as stroke":      {with(draw, fields{"stroke": []any{1, 2}}), "stroke must be"},
		"a point of one number":  {with(draw, fields{"stroke": []any{[]any{1}}}), "stroke must be"},
		"a point of three":       {with(draw, fields{"stroke": []any{[]any{1, 2, 3}}}), "stroke must be"},
		"a string in a point":    {with(draw, fields{"stroke": []any{[]any{1, "2"}}}), "stroke must be"},
		"null in a point":        {with(draw, fields{"stroke": []any{[]any{1, 2}, []any{nil, 2}}}), "stroke must be"},
		"a point within a point": {with(draw, fields{"stroke": []any{[]any{[]any{1, 2}, 3}}}), "stroke must be"},
	} {
		if _, err := parseMessage(encoded(t, test.message)); err == nil || !strings.HasPrefix(err.Error(), test.reason) {
			t.Errorf("%s: refused with %v, expected %q", name, err, test.reason)
		}
	}
}

func TestWhatIsNotJSONIsRefused(t *testing.T) {
	good := string(encoded(t, draw))
	for _, text := range []string{
		"",
		"draw me a sheep",
		good[:len(good)-1],
		good + "x",
		strings.Replace(good, "2.5", "2.5]", 1),
		strings.Replace(good, "2.5", "NaN", 1),
		strings.Replace(good, "2.5", "02.5", 1),
		strings.Replace(good, `"draw"`, "\"draw\",\"note\":\"\x01\"", 1),
	} {
		if _, err := parseMessage([]byte(text)); err != badMessage("a message must be JSON") {
			t.Errorf("%q: refused with %v", text, err)
		}
	}
}

func TestACoordinateBeyondAllNumbersIsRefused(t *testing.T) {
	text := strings.Replace(string(encoded(t, draw)), "2.5", "1e999", 1)
	if _, err := parseMessage([]byte(text)); err == nil {
		t.Error("accepted")
	}
}
