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
}

// Patterns are the input patterns that suites may name. A pen is sampled at 60 Hz by common tablets and browsers; one
// stroke of a second in twenty makes three messages a second of a client in the mean.
var Patterns = map[string]Pattern{
	"steady":       {Period: time.Second, Count: 1},
	"stroke":       {Period: 20 * time.Second, Count: 60, Gap: time.Second / 60},
	"simultaneous": {Period: time.Second, Count: 1, Together: true},
	"sparse":       {Period: time.Second, Count: 1, Writers: 1},
}

// PatternOf finds a pattern by its name.
func PatternOf(name string) (Pattern, error) {
	pattern, ok := Patterns[name]
	if !ok {
		return Pattern{}, fmt.Errorf("pattern %q: known are steady, stroke, simultaneous and sparse", name)
	}
	return pattern, nil
}

// Phase draws the offset of a member's first message, uniform over one period, from the seed.
func (p Pattern) Phase(seed uint64, group, member int) time.Duration {
	key := seed ^ uint64(group)<<32
	if !p.Together {
		key ^= uint64(member) + 1
	}
	return time.Duration(splitmix(key) % uint64(p.Period))
}

// Due is when the n-th message is due, with n from 0, for a client of that phase: whole microseconds, as messages carry it.
func (p Pattern) Due(phase time.Duration, n int) time.Duration {
	due := phase + p.Period*time.Duration(n/p.Count) + p.Gap*time.Duration(n%p.Count)
	return due.Truncate(time.Microsecond)
}

// From is the number of the first message that is due at t or later.
func (p Pattern) From(phase, t time.Duration) int {
	if t <= phase {
		return 0
	}
	n := int((t - phase) / p.Period * time.Duration(p.Count))
	for p.Due(phase, n) < t {
		n++
	}
	return n
}

// Sends tells whether the member in this place of its group sends at all.
func (p Pattern) Sends(member int) bool {
	return p.Writers == 0 || member < p.Writers
}

// splitmix is the finaliser of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014): neighbouring keys give unrelated values.
func splitmix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
