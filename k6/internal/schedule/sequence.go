package schedule

import (
	"math"
	"time"
)

// Arrivals defines how the bursts of clients are spread over time. All have the same mean rate: one burst each period.
type Arrivals int

const (
	// Fixed gives each client a phase, uniform over the period, which it keeps.
	Fixed Arrivals = iota
	// Poisson draws a new exponential pause before each burst. The bursts of all clients together are then close to a
	// Poisson process, like those of independent users.
	Poisson
	// Bursty keeps phases, too, but draws them from the first fifth of the period: five times the rate, then silence.
	Bursty
)

// burstyShare is the divisor of the period: bursty messages are due in its first fifth.
const burstyShare = 5

var arrivalsNamed = map[string]Arrivals{"": Fixed, "fixed": Fixed, "poisson": Poisson, "bursty": Bursty}

// Sequence is the messages of one client, in the order in which they are due. The due times depend only on seed, group
// and member, never on what happens.
type Sequence struct {
	pattern *Pattern
	key     uint64
	start   time.Duration // start of the current burst
	burst   uint64        // number of the burst, from 0
	place   int           // place of the current message in the burst
}

// Sequence returns the sequence of a member of a group, at its first message. Members of a group that sends together
// have the same sequence.
func (p *Pattern) Sequence(seed uint64, group, member int) Sequence {
	s := Sequence{pattern: p, key: seed ^ uint64(group)<<32}
	if !p.Together {
		s.key ^= uint64(member) + 1
	}
	switch p.Arrivals {
	case Fixed:
		s.start = time.Duration(splitmix(s.key) % uint64(p.Period))
	case Bursty:
		s.start = time.Duration(splitmix(s.key) % uint64(p.Period/burstyShare))
	case Poisson:
		s.start = s.pause()
	}
	return s
}

// Due returns when the current message is due, in whole microseconds, as messages carry it.
func (s *Sequence) Due() time.Duration {
	return (s.start + s.pattern.Gap*time.Duration(s.place)).Truncate(time.Microsecond)
}

// Advance moves to the next message.
func (s *Sequence) Advance() {
	if s.place++; s.place < s.pattern.Count {
		return
	}
	s.place = 0
	s.burst++
	if s.pattern.Arrivals == Poisson {
		s.start += s.pattern.length() + s.pause()
	} else {
		s.start += s.pattern.Period
	}
}

// SkipTo moves to the first message that is due at t or later.
func (s *Sequence) SkipTo(t time.Duration) {
	for s.Due() < t {
		s.Advance()
	}
}

// length returns how long a burst takes, including the gap after its last message.
func (p *Pattern) length() time.Duration { return p.Gap * time.Duration(p.Count) }

// pause returns the time before the current burst of a Poisson sequence. Its mean makes the mean rate one burst a
// period.
func (s *Sequence) pause() time.Duration {
	uniform := (float64(splitmix(s.key+s.burst*golden)>>11) + 0.5) / (1 << 53) // in (0, 1)
	return time.Duration(-math.Log(uniform) * float64(s.pattern.Period-s.pattern.length()))
}

// golden is the increment of SplitMix64: multiples of it make the stream of values of one key.
const golden = 0x9e3779b97f4a7c15

// splitmix is the finaliser of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014): neighbouring keys give unrelated
// values.
func splitmix(x uint64) uint64 {
	x += golden
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
