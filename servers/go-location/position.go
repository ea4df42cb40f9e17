package main

import (
	"errors"

	"github.com/go-json-experiment/json"
)

const (
	maxIDCharacters = 64
	maxInteger      = 1<<53 - 1
)

// position is what a client puts. Unknown fields are allowed, and are not sent to others.
type position struct {
	Lat    *float64 `json:"lat"`
	Lon    *float64 `json:"lon"`
	Seq    *int64   `json:"seq"`
	SentAt *int64   `json:"sentAt"`
}

// told is the part of a position that others receive.
type told struct {
	User   string  `json:"user"`
	Lat    float64 `json:"lat"`
	Lon    float64 `json:"lon"`
	Seq    int64   `json:"seq"`
	SentAt int64   `json:"sentAt"`
}

// parsePosition returns the JSON that others receive. The text of its error is sent to the client.
func parsePosition(user string, data []byte) ([]byte, error) {
	var p position
	if err := json.Unmarshal(data, &p); err != nil {
		if errors.As(err, new(*json.SemanticError)) {
			return nil, errors.New("a position must be a JSON object of numbers")
		}
		return nil, errors.New("a position must be JSON")
	}
	switch {
	case !isWithin(p.Lat, -90, 90):
		return nil, errors.New("lat must be a number from -90 to 90")
	case !isWithin(p.Lon, -180, 180):
		return nil, errors.New("lon must be a number from -180 to 180")
	case !isWithin(p.Seq, 0, maxInteger):
		return nil, errors.New("seq must be an integer from 0 to 2^53 - 1")
	case !isWithin(p.SentAt, 0, maxInteger):
		return nil, errors.New("sentAt must be an integer from 0 to 2^53 - 1")
	}
	return json.Marshal(told{user, *p.Lat, *p.Lon, *p.Seq, *p.SentAt})
}

func isWithin[N int64 | float64](value *N, least, most N) bool {
	return value != nil && least <= *value && *value <= most
}

// isID reports whether the text may name a group or a user.
func isID(text string) bool {
	for _, c := range []byte(text) {
		isLetter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		if !isLetter && !('0' <= c && c <= '9') && c != '-' && c != '_' {
			return false
		}
	}
	return text != "" && len(text) <= maxIDCharacters
}
