package main

import (
	"errors"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

const maxIDCharacters = 64

// message is a message of a client: a join, a draw or a leave. Unknown fields are allowed.
type message struct {
	Type    text   `json:"type"`
	BoardID text   `json:"boardId"`
	UserID  text   `json:"userId"`
	Seq     count  `json:"seq"`
	SentAt  count  `json:"sentAt"`
	Stroke  stroke `json:"stroke"`
}

// badMessage is the reason that is sent to the client.
type badMessage string

func (b badMessage) Error() string { return string(b) }

// parseMessage returns a badMessage unless the text is a join, draw or leave.
func parseMessage(data []byte) (message, error) {
	var m message
	if err := json.Unmarshal(data, &m, jsontext.AllowDuplicateNames(true)); err != nil {
		if errors.As(err, new(*json.SemanticError)) {
			return m, badMessage("a message must be a JSON object")
		}
		return m, badMessage("a message must be JSON")
	}
	isDraw := m.Type == "draw"
	switch {
	case !isDraw && m.Type != "join" && m.Type != "leave":
		return m, badMessage("type must be join, draw or leave")
	case !isID(m.BoardID):
		return m, badMessage("boardId must be a string of 1 to 64 characters")
	case !isID(m.UserID):
		return m, badMessage("userId must be a string of 1 to 64 characters")
	case isDraw && !bool(m.Seq):
		return m, badMessage("seq must be an integer of at least 0")
	case isDraw && !bool(m.SentAt):
		return m, badMessage("sentAt must be an integer of at least 0")
	case isDraw && !bool(m.Stroke):
		return m, badMessage("stroke must be a non-empty array of [number, number]")
	}
	return m, nil
}

func isID(value text) bool {
	return value != "" && utf8.RuneCountInString(string(value)) <= maxIDCharacters
}

// Values of these types record whether the JSON was valid, instead of rejecting it: whether that matters depends on the
// type of the message. They all read the JSON to its end.
type (
	text   string // empty unless it was a string
	count  bool   // whether it was an integer of at least 0
	stroke bool   // whether it was a non-empty array of [number, number]
)

func (t *text) UnmarshalJSONFrom(decoder *jsontext.Decoder) error {
	*t = ""
	if decoder.PeekKind() != jsontext.KindString {
		return decoder.SkipValue()
	}
	token, err := decoder.ReadToken()
	if err == nil {
		*t = text(token.String())
	}
	return err
}

func (c *count) UnmarshalJSONFrom(decoder *jsontext.Decoder) error {
	*c = false
	if decoder.PeekKind() != jsontext.KindNumber {
		return decoder.SkipValue()
	}
	token, err := decoder.ReadToken()
	if err == nil {
		_, malformed := token.Uint()
		*c = malformed == nil
	}
	return err
}

func (s *stroke) UnmarshalJSONFrom(decoder *jsontext.Decoder) error {
	length, err := readArray(decoder, readPoint)
	*s = length > 0
	return err
}

func readPoint(decoder *jsontext.Decoder) (bool, error) {
	length, err := readArray(decoder, readNumber)
	return length == 2, err
}

// JSON has no infinity, but 1e999 becomes one.
func readNumber(decoder *jsontext.Decoder) (bool, error) {
	if decoder.PeekKind() != jsontext.KindNumber {
		return false, decoder.SkipValue()
	}
	token, err := decoder.ReadToken()
	if err != nil {
		return false, err
	}
	_, outOfRange := token.Float()
	return outOfRange == nil, nil
}

// readArray reads a value, and its elements with read, which reports whether an element is valid. It returns how many
// there are, or -1 unless the value is an array of valid ones.
func readArray(decoder *jsontext.Decoder, read func(*jsontext.Decoder) (bool, error)) (int, error) {
	if decoder.PeekKind() != jsontext.KindBeginArray {
		return -1, decoder.SkipValue()
	}
	_, err := decoder.ReadToken()
	length, allGood := 0, true
	for err == nil && decoder.PeekKind() != jsontext.KindEndArray {
		var good bool
		good, err = read(decoder)
		allGood = allGood && good
		length++
	}
	if err == nil {
		_, err = decoder.ReadToken()
	}
	if !allGood {
		length = -1
	}
	return length, err
}
