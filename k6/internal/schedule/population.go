package schedule

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// Groups defines the groups of clients and when they send.
type Groups struct {
	Size    int
	Pattern Pattern
	// Query is appended to the path of requests.
	Query string
	// Length is the length, in characters, of the shortest games if the server names the groups.
	Length int
	// Beside are the exchanges that each client has beside those of its group.
	Beside []Beside
}

// Beside is an exchange of each client with the server alone, and when it is due.
type Beside struct {
	Name    string
	Pattern Pattern
}

// same reports whether clients may stay when these groups follow others.
func (g Groups) same(other Groups) bool {
	return g.Size == other.Size && g.Pattern == other.Pattern && g.Query == other.Query &&
		g.Length == other.Length && slices.Equal(g.Beside, other.Beside)
}

// Population is the clients of consecutive stages with the same groups. When the groups change, all clients are
// replaced. The ramp of the next stage begins with the drain of this population, and the next population connects in
// the rest of that ramp.
type Population struct {
	Groups      Groups
	First, Last int           // its stages
	End         time.Duration // end of its last steady window; from then on it sends nothing
	ramps       []ramp
}

// Ready returns when the first ramp of the population has ended.
func (p Population) Ready() time.Duration { return p.ramps[0].end }

// ramp is the time in which a stage's additional clients connect, or its surplus clients leave.
type ramp struct {
	begin, end    time.Duration
	before, after int
}

// Populations divides the stages; groups has one entry for each. It rejects a load that cannot be played.
func (s Schedule) Populations(groups []Groups) ([]Population, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	if len(groups) != len(s.Stages) {
		return nil, fmt.Errorf("schedule: %d stages, and the groups of %d", len(s.Stages), len(groups))
	}
	var populations []Population
	var end time.Duration // end of the previous stage
	for i, window := range s.Windows() {
		stage := s.Stages[i]
		r := ramp{begin: end, end: end + Seconds(stage.RampSeconds), after: stage.Clients}
		if i > 0 && groups[i].same(groups[i-1]) {
			r.before = s.Stages[i-1].Clients
		} else {
			if groups[i].Size < 1 {
				return nil, fmt.Errorf("group size %d: expected at least 1", groups[i].Size)
			}
			if i > 0 {
				r.begin += s.Drain()
			}
			if i > 0 && r.begin >= r.end {
				return nil, fmt.Errorf("schedule: stage %d: its ramp must be longer than the drain, with which it begins", i)
			}
			populations = append(populations, Population{Groups: groups[i], First: i})
		}
		current := &populations[len(populations)-1]
		current.Last, current.End = i, window.End
		current.ramps = append(current.ramps, r)
		end = window.End
	}
	return populations, nil
}

// Seat is one client of a population: when it is due to connect, and when it leaves; Never for one that stays to the
// end.
type Seat struct {
	Arrival, Departure time.Duration
}

// Never is a time after every load.
const Never = time.Duration(math.MaxInt64)

// Seats returns the clients of the population in the order of their arrival. Over a ramp they arrive one after the
// other, the last one at its end. Those who came last leave first. A client that arrives after others have left has a
// seat of its own.
func (p Population) Seats() []Seat {
	var seats []Seat
	var present []int
	for _, r := range p.ramps {
		moment := func(n, of int) time.Duration { return r.begin + (r.end-r.begin)*time.Duration(n)/time.Duration(of) }
		for n := range r.after - r.before {
			present = append(present, len(seats))
			seats = append(seats, Seat{moment(n+1, r.after-r.before), Never})
		}
		for n := range r.before - r.after {
			last := len(present) - 1
			seats[present[last]].Departure = moment(n+1, r.before-r.after)
			present = present[:last]
		}
	}
	return seats
}
