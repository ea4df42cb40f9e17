package main

import (
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

const (
	maxTitleCharacters   = 200
	maxContentCharacters = 10_000
)

// newPost is what a client posts. Fields beyond these are ignored.
type newPost struct {
	Title   string `json:"title"`
	Content string `json:"content"`
}

// badPost is the reason that is sent to the client.
type badPost string

func (b badPost) Error() string { return string(b) }

// parsePost returns a post, or a badPost if the body is not one.
func parsePost(body []byte) (newPost, error) {
	var parsed *newPost // null leaves it nil
	if err := json.Unmarshal(body, &parsed, jsontext.AllowDuplicateNames(true)); err != nil || parsed == nil {
		return newPost{}, badPost("a body must be a JSON object with the strings title and content")
	}
	p := *parsed
	var reasons []string
	if !isText(p.Content, maxContentCharacters) {
		reasons = append(reasons, "content must be a string of 1 to 10000 characters")
	}
	if !isText(p.Title, maxTitleCharacters) {
		reasons = append(reasons, "title must be a string of 1 to 200 characters")
	}
	if reasons != nil {
		return p, badPost(strings.Join(reasons, ", "))
	}
	return p, nil
}

func isText(value string, maxCharacters int) bool {
	return value != "" && utf8.RuneCountInString(value) <= maxCharacters
}
