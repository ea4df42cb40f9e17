package schedule

import (
	"fmt"
	"slices"
	"time"
)

// UnderWay is how long before a kill a message may have been due and still be lost because it was in flight.
const UnderWay = time.Second

// Outage is a kill in the steady window of a stage. Another program kills; clients that lose their connection reconnect
// by themselves.
type Outage struct {
	Kill string `json:"kill"` // server, worker or service
	// AtSeconds is the time of the kill, from the beginning of the steady window.
	AtSeconds float64 `json:"at_seconds"`
	// DownSeconds is how long the target stays down before it is started again.
	DownSeconds float64 `json:"down_seconds"`
	// WithinSeconds is how long after the kill messages are counted separately.
	WithinSeconds float64 `json:"within_seconds"`
}

// OutageWindow contains the messages that are counted separately, those with Begin <= due < End, and the moment of the
// kill.
type OutageWindow struct {
	Stage            int
	Begin, Kill, End time.Duration
}

// Outages returns the outages of all stages, in order.
func (s Schedule) Outages() []OutageWindow {
	var outages []OutageWindow
	for i, window := range s.Windows() {
		if outage := s.Stages[i].Outage; outage != nil {
			kill := window.Begin + Seconds(outage.AtSeconds)
			outages = append(outages, OutageWindow{i, kill - UnderWay, kill, kill + Seconds(outage.WithinSeconds)})
		}
	}
	return outages
}

// check rejects an outage that does not fit into the steady window.
func (o Outage) check(stage int, steady float64) error {
	switch {
	case !slices.Contains([]string{"server", "worker", "service"}, o.Kill):
		return fmt.Errorf("schedule: stage %d: kill %q: expected server, worker or service", stage, o.Kill)
	case o.AtSeconds < UnderWay.Seconds() || o.DownSeconds < 0 || o.WithinSeconds <= o.DownSeconds:
		return fmt.Errorf("schedule: stage %d: an outage begins at %s at the earliest, and is longer than it is down",
			stage, UnderWay)
	case o.AtSeconds+o.WithinSeconds > steady:
		return fmt.Errorf("schedule: stage %d: its outage ends after %g s, the steady window after %g s",
			stage, o.AtSeconds+o.WithinSeconds, steady)
	}
	return nil
}
