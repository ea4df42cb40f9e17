// Package schedule computes when things are due: the stages of a load and the messages of a client. It is pure; times
// are durations since the start of the scenario.
package schedule

import (
	"fmt"
	"time"
)

// MinimumDrain is long enough to observe duplicates after the last message.
const MinimumDrain = time.Second

// Stage is a number of clients held for a time. Only its steady window is measured.
type Stage struct {
	Name          string  `json:"name"`
	Clients       int     `json:"clients"`
	RampSeconds   float64 `json:"ramp_seconds"`
	SettleSeconds float64 `json:"settle_seconds"`
	SteadySeconds float64 `json:"steady_seconds"`
	// Parameters are the suite's parameters whose values in this stage differ from those of the load.
	Parameters map[string]any `json:"parameters"`
	// Closed makes a client's next exchange due when its last one has ended, whatever the scenario says.
	Closed bool `json:"closed"`
	// Outage is the kill in the steady window; nil for none.
	Outage *Outage `json:"outage"`
}

// Schedule is the load of one trial. The warm-up lies between the first stage's ramp and its settling.
type Schedule struct {
	WarmupSeconds float64 `json:"warmup_seconds"`
	Stages        []Stage `json:"stages"`
	DrainSeconds  float64 `json:"drain_seconds"`
}

// Window is the steady window of a stage: Begin <= t < End.
type Window struct {
	Begin, End time.Duration
}

// Check rejects a schedule that cannot be played.
func (s Schedule) Check() error {
	if len(s.Stages) == 0 {
		return fmt.Errorf("schedule: no stages")
	}
	if s.WarmupSeconds < 0 || s.DrainSeconds < 0 {
		return fmt.Errorf("schedule: negative warm-up or drain")
	}
	for i, stage := range s.Stages {
		if stage.Clients < 1 || stage.RampSeconds < 0 || stage.SettleSeconds < 0 || stage.SteadySeconds <= 0 {
			return fmt.Errorf("schedule: stage %d: clients and steady_seconds must be positive, the rest not negative", i)
		}
		if stage.Outage != nil {
			if err := stage.Outage.check(i, stage.SteadySeconds); err != nil {
				return err
			}
		}
	}
	return nil
}

// Windows returns the steady window of every stage.
func (s Schedule) Windows() []Window {
	windows := make([]Window, len(s.Stages))
	at := Seconds(s.WarmupSeconds)
	for i, stage := range s.Stages {
		begin := at + Seconds(stage.RampSeconds) + Seconds(stage.SettleSeconds)
		at = begin + Seconds(stage.SteadySeconds)
		windows[i] = Window{begin, at}
	}
	return windows
}

// End returns when the last steady window ends: sending stops and the drain begins.
func (s Schedule) End() time.Duration {
	windows := s.Windows()
	return windows[len(windows)-1].End
}

// Drain returns the longest wait for messages in flight after sending has stopped.
func (s Schedule) Drain() time.Duration {
	return max(MinimumDrain, Seconds(s.DrainSeconds))
}

// Seconds converts to a duration, exact to the microsecond.
func Seconds(s float64) time.Duration {
	return time.Duration(s*1e6+0.5) * time.Microsecond
}
