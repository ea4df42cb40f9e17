package main

import (
	"strings"
	"testing"
)

const good = `{"lat":52.5,"lon":-13.4,"seq":7,"sentAt":1764000000000000}`

func TestAPositionIsToldWithItsUserAndWithoutOtherFields(t *testing.T) {
	told, err := parsePosition("u-1", []byte(strings.Replace(good, "{", `{"note":"x","user":"u-2",`, 1)))
	if want := strings.Replace(good, "{", `{"user":"u-1",`, 1); err != nil || string(told) != want {
		t.Errorf("%s, %v; expected %s", told, err, want)
	}
}

func TestWhatIsNoPositionIsRefused(t *testing.T) {
	for _, change := range [][2]string{
		{good, ""}, {good, "["}, {good, "null"}, {good, "7"}, {"52.5", "90.1"}, {"52.5", `"52.5"`}, {"-13.4", "-181"},
		{"7", "-1"}, {"7", "1.5"}, {"1764000000000000", "9007199254740992"}, {`"seq":7,`, ""}, {"52.5", "null"},
	} {
		text := strings.Replace(good, change[0], change[1], 1)
		if told, err := parsePosition("u-1", []byte(text)); err == nil {
			t.Errorf("%s is told as %s", text, told)
		}
	}
}

func TestIDs(t *testing.T) {
	for id, want := range map[string]bool{
		"a": true, "A-9_": true, strings.Repeat("x", 64): true,
		"": false, "a.b": false, "é": false, strings.Repeat("x", 65): false,
	} {
		if isID(id) != want {
			t.Errorf("%q: expected %v", id, want)
		}
	}
}
