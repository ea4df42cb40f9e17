package schedule

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Pattern defines when a client's messages are due: bursts of Count messages that are Gap apart, one burst each Period.
type Pattern struct {
	Period time.Duration
	Count  int
	Gap    time.Duration
	// Together makes all members of a group send at the same instant; otherwise each has a phase of its own.
	Together bool
	// Writers bounds how many members of a group send; 0 means all.
	Writers int
	// Arrivals defines when the bursts begin; the zero value is Fixed.
	Arrivals Arrivals
	// Closed makes a client's next exchange due when its last one has ended, however long that took.
	Closed bool
	// Rate is how many exchanges a second are due over all clients; each goes to a client that has none open. 0 gives each
	// client a sequence of its own.
	Rate float64
}

// Patterns are the input patterns that suites may name. Common tablets and browsers sample a pen at 60 Hz; one stroke
// of a second every twenty seconds makes three messages a second per client on average. A typist of 60 words a minute
// presses five keys a second, because a word counts as five.
var Patterns = map[string]Pattern{
	"steady":       {Period: time.Second, Count: 1},
	"stroke":       {Period: 20 * time.Second, Count: 60, Gap: time.Second / 60},
	"simultaneous": {Period: time.Second, Count: 1, Together: true},
	"sparse":       {Period: time.Second, Count: 1, Writers: 1},
	"position":     {Period: 3 * time.Second, Count: 1},
	"keystrokes":   {Period: 200 * time.Millisecond, Count: 1},
	"closed":       {Period: time.Second, Count: 1, Closed: true},
}

// PatternOf returns the named pattern with the named arrivals; an empty name of arrivals means fixed. With a rate,
// which all clients share, the pattern needs no name.
func PatternOf(name, arrivals string, rate float64) (Pattern, error) {
	pattern, ok := Patterns[name]
	switch {
	case rate < 0:
		return Pattern{}, fmt.Errorf("rate %g: expected a number above 0, or 0 for none", rate)
	case rate > 0:
		pattern = Pattern{Rate: rate}
	case !ok:
		return Pattern{}, fmt.Errorf("pattern %q: known are %s", name, strings.Join(slices.Sorted(maps.Keys(Patterns)), ", "))
	}
	if pattern.Arrivals, ok = arrivalsNamed[arrivals]; !ok {
		return Pattern{}, fmt.Errorf("arrivals %q: known are fixed, poisson and bursty", arrivals)
	}
	return pattern, nil
}

// Own reports whether each client has a sequence of its own.
func (p Pattern) Own() bool { return !p.Closed && p.Rate == 0 }

// Part returns the pattern of one of that many parts that share the rate: its sequence has one exchange at a time.
func (p Pattern) Part(parts int) Pattern {
	p.Period = time.Duration(float64(time.Second) * float64(parts) / p.Rate)
	p.Count, p.Gap = 1, 0
	return p
}

// Sends reports whether the member at this place of its group sends at all.
func (p Pattern) Sends(member int) bool {
	return p.Writers == 0 || member < p.Writers
}
