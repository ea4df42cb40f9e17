package main

import (
	"strings"
	"testing"
)

const (
	badBody    = "a body must be a JSON object with the strings title and content"
	badTitle   = "title must be a string of 1 to 200 characters"
	badContent = "content must be a string of 1 to 10000 characters"
)

func TestGoodPostsAreAccepted(t *testing.T) {
	rockets := strings.Repeat("🚀", 200)
	for body, expected := range map[string]newPost{
		`{"title":"t","content":"c"}`:                        {"t", "c"},
		`{"content":"\u00e9","title":"\ud83d\ude80"}`:        {"🚀", "é"},
		`{"title":"t","content":"c","no":7,"Title":[]}`:      {"t", "c"},
		`{"title":"t","title":"second","content":"c"}` + " ": {"second", "c"},
		`{"title":"` + rockets + `","content":"c"}`:          {rockets, "c"},
	} {
		if parsed, err := parsePost([]byte(body)); err != nil || parsed != expected {
			t.Errorf("%s: parsed as %+v, %v", body, parsed, err)
		}
	}
}

func TestBadPostsAreRefusedWithAReason(t *testing.T) {
	for body, reason := range map[string]string{
		``:                                   badBody,
		`{`:                                  badBody,
		`{"title":"t","content":"c"} {}`:     badBody,
		`[]`:                                 badBody,
		`null`:                               badBody,
		`{"title":1,"content":"c"}`:          badBody,
		`{"title":true,"content":"c"}`:       badBody,
		`{"title":["t"],"content":"c"}`:      badBody,
		`{"title":"t","content":{}}`:         badBody,
		`{"title":"\ud83d","content":"c"}`:   badBody,
		"{\"title\":\"\xff\",\"content\":1}": badBody,
		`{"content":"c"}`:                    badTitle,
		`{"title":"","content":"c"}`:         badTitle,
		`{"title":null,"content":"c"}`:       badTitle,
		`{"Title":"t","content":"c"}`:        badTitle,
		`{"title":"t"}`:                      badContent,
		`{}`:                                 badContent + ", " + badTitle,
		`{"title":"` + strings.Repeat("🚀", 201) + `","content":"c"}`:    badTitle,
		`{"title":"t","content":"` + strings.Repeat("é", 10_001) + `"}`: badContent,
	} {
		if _, err := parsePost([]byte(body)); err != badPost(reason) {
			t.Errorf("%s: refused with %v, expected %q", body, err, reason)
		}
	}
}
