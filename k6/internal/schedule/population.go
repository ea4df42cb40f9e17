package schedule

import (
	"fmt"
	"time"
)

// Groups says how clients sit together and when they send.
type Groups struct {
	Size    int
	Pattern Pattern
}

// Population is the clients of consecutive stages that sit together alike. Where that changes, all of them leave and others come:
// the ramp of the next stage begins with the drain of this population, and the next one connects in the rest of it.
type Population struct {
	Groups      Groups
	First, Last int           // its stages
	End         time.Duration // of its last steady window; from then on it sends nothing
	ramps       []ramp
}

// ramp is when the clients connect that a stage has more than the one before it.
type ramp struct {
	begin, end    time.Duration
	before, after int
}

// Populations deals the stages, of which groups has one entry each. It refuses what cannot be played.
func (s Schedule) Populations(groups []Groups) ([]Population, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	if len(groups) != len(s.Stages) {
		return nil, fmt.Errorf("schedule: %d stages, and the groups of %d", len(s.Stages), len(groups))
	}
	var populations []Population
	var end time.Duration // of the stage before
	for i, window := range s.Windows() {
		stage := s.Stages[i]
		r := ramp{begin: end, end: end + Seconds(stage.RampSeconds), after: stage.Clients}
		if i > 0 && groups[i] == groups[i-1] {
			r.before = s.Stages[i-1].Clients
			if len(populations) > 1 && r.after < r.before {
				return nil, fmt.Errorf("schedule: stage %d: only the first clients may become fewer", i)
			}
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

// Arrival is when the n-th client connects, with n from 0, as k6 would start it: the last one at the end of the ramp. It is false
// when the population does not have that many.
func (p Population) Arrival(n int) (time.Duration, bool) {
	for _, r := range p.ramps {
		if n < r.after {
			return r.begin + (r.end-r.begin)*time.Duration(n+1-r.before)/time.Duration(r.after-r.before), true
		}
	}
	return 0, false
}
