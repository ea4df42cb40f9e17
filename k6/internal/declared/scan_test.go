package declared

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

var pointers = []string{"/type", "/a/b", "/a", "/list/1", "/list/1/id", "/0", "/a~1b", "/m~0n", "/", "/deep/er/est", ""}

var documents = []string{
	`{"type":"draw","a":{"b":[1,2,{"c":"}"}]},"list":[0,{"id":17}],"0":null}`,
	` { "type" : "a\"b" , "list" : [ [ ] , [ "x" ] ] } `,
	`[true,{"id":"no object"}]`,
	`{"a":{"b":1},"a":{"c":2}}`, `{"a":{"b":1},"a":3}`, `{"a":3,"a":{"b":1}}`,
	`{"a/b":1.5e-7,"m~n":-0,"":[]}`, `{"\u0061":{"\u0062":"escaped names"}}`,
	`{"list":[0,{"id":12}]}`, `{"list":[0,{"id":123}]}`, `{"list":[0,{"id":12.5}]}`, `{"list":[0,{"id":12 }]}`,
	`{"deep":{"er":{"est":{"x":[{}]}}}}`, `"no object"`, `12`, `{}`, `[]`,
	// Not JSON.
	``, `{`, `{"a"}`, `{"a":}`, `{"a":1,}`, `[1,]`, `[1 2]`, `{"a":01}`, `{"a":1.}`, `{"a":.5}`, `{"a":1e}`, `{"a":+1}`,
	`{"a":"` + "\n" + `"}`, `{"a":"\x"}`, `{"a":"\u12g4"}`, `{"a":tru}`, `{"a":truex}`, `{'a':1}`, `{"a":1}}`, `{"a":1} x`,
	`{"type":"draw"x}`, `{"type":"draw`, `{"list":[0,12x]}`, `{"list":[0,12`, `{"a":-}`, `nul`, `{"a":1 "b":2}`,
}

// reference returns the value at a pointer as encoding/json finds it.
func reference(text []byte, pointer string) (value json.RawMessage, exists bool) {
	value, exists = text, true
	for _, name := range strings.Split(pointer, "/")[1:] {
		name = strings.NewReplacer("~1", "/", "~0", "~").Replace(name)
		var members map[string]json.RawMessage
		var items []json.RawMessage
		switch value = bytes.TrimSpace(value); value[0] {
		case '{':
			if json.Unmarshal(value, &members) != nil {
				return nil, false
			}
			value, exists = members[name]
		case '[':
			number, err := strconv.Atoi(name)
			if json.Unmarshal(value, &items) != nil || err != nil || strconv.Itoa(number) != name || number < 0 ||
				number >= len(items) {
				return nil, false
			}
			value, exists = items[number], true
		default:
			return nil, false
		}
		if !exists {
			return nil, false
		}
	}
	return value, exists
}

func finderOf(t testing.TB) *finder {
	t.Helper()
	f := newFinder()
	for i, pointer := range pointers {
		if number, err := f.add(pointer); err != nil || number != i {
			t.Fatal(number, err)
		}
	}
	f.expect(0, []byte(`"draw"`))
	f.expect(4, []byte(`12`))
	f.expect(9, []byte(`{"x":[{}]}`))
	return f
}

// agree compares the finder with encoding/json.
func agree(t *testing.T, f *finder, text []byte) {
	t.Helper()
	found := make([]span, f.count)
	found[0] = span{1, 2} // left over from an earlier text
	if ok := f.find(text, found); ok != json.Valid(text) {
		t.Fatalf("%q: JSON %t, encoding/json says %t", text, ok, !ok)
	} else if !ok {
		return
	}
	for i, pointer := range pointers {
		want, exists := reference(text, pointer)
		if found[i].exists() != exists || exists && !bytes.Equal(found[i].of(text), bytes.TrimSpace(want)) {
			t.Errorf("%q at %s: %q, expected %q (%t)", text, pointer, found[i].of(text), want, exists)
		}
	}
}

func TestValuesAreFoundAsEncodingJSONFindsThem(t *testing.T) {
	f := finderOf(t)
	for _, text := range documents {
		agree(t, f, []byte(text))
	}
	for _, depth := range []int{deepest, deepest + 1} {
		agree(t, f, []byte(strings.Repeat("[", depth)+strings.Repeat("]", depth)))
	}
}

func FuzzFind(f *testing.F) {
	for _, text := range documents {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if utf8.Valid(text) { // like every text message
			agree(t, finderOf(t), text)
		}
	})
}

func TestWhatIsNoPointerIsRefused(t *testing.T) {
	for _, pointer := range []string{"id", "#/id"} {
		if _, err := newFinder().add(pointer); err == nil {
			t.Errorf("%q: accepted", pointer)
		}
	}
}
