package schedule

import (
	"fmt"
	"time"
)

// Pattern says when a client's messages are due: bursts of Count messages that are Gap apart, one burst each Period.
type Pattern struct {
	Period time.Duration
	Count  int
	Gap    time.Duration
	// Together makes all members of a group send at the same instant; otherwise each has a phase of its own.
	Together bool
	// Writers bounds how many members of a group send; 0 means all.
	Writers int
	// Arrivals says when the bursts begin; the zero value is Fixed.
	Arrivals Arrivals
}

// Patterns are the input patterns that suites may name. A pen is sampled at 60 Hz by common tablets and browsers; one
// stroke of a second in twenty makes three messages a second of a client in the mean.
var Patterns = map[string]Pattern{
	"steady":       {Period: time.Second, Count: 1},
	"stroke":       {Period: 20 * time.Second, Count: 60, Gap: time.Second / 60},
	"simultaneous": {Period: time.Second, Count: 1, Together: true},
	"sparse":       {Period: time.Second, Count: 1, Writers: 1},
}

// PatternOf finds a pattern by its name, with the arrivals of that name; no name is fixed.
func PatternOf(name, arrivals string) (Pattern, error) {
	pattern, ok := Patterns[name]
	if !ok {
		return Pattern{}, fmt.Errorf("pattern %q: known are steady, stroke, simultaneous and sparse", name)
	}
	if pattern.Arrivals, ok = arrivalsNamed[arrivals]; !ok {
		return Pattern{}, fmt.Errorf("arrivals %q: known are fixed, poisson and bursty", arrivals)
	}
	return pattern, nil
}

// Sends tells whether the member in this place of its group sends at all.
func (p Pattern) Sends(member int) bool {
	return p.Writers == 0 || member < p.Writers
}
