package schedule

import (
	"slices"
	"testing"
	"time"
)

func withOutage(outage *Outage) Schedule {
	return Schedule{Stages: []Stage{{Clients: 1, SteadySeconds: 2}, {Clients: 1, SteadySeconds: 20, Outage: outage}}}
}

func TestAnOutageIsCountedApartFromASecondBeforeItsKill(t *testing.T) {
	s := withOutage(&Outage{Kill: "server", AtSeconds: 5, WithinSeconds: 10})
	want := []OutageWindow{{Stage: 1, Begin: 6 * time.Second, Kill: 7 * time.Second, End: 17 * time.Second}}
	if got := s.Outages(); !slices.Equal(got, want) {
		t.Errorf("%+v, expected %+v", got, want)
	}
	if err := s.Check(); err != nil {
		t.Error(err)
	}
}

func TestAnOutageThatCannotBePlayedIsRefused(t *testing.T) {
	for name, outage := range map[string]Outage{
		"unknown":       {Kill: "cable", AtSeconds: 5, WithinSeconds: 10},
		"too early":     {Kill: "server", AtSeconds: 0.5, WithinSeconds: 10},
		"too long":      {Kill: "server", AtSeconds: 11, WithinSeconds: 10},
		"never started": {Kill: "server", AtSeconds: 5, DownSeconds: 10, WithinSeconds: 10},
		"backwards":     {Kill: "server", AtSeconds: 5, DownSeconds: -1, WithinSeconds: 10},
	} {
		if withOutage(&outage).Check() == nil {
			t.Errorf("%s: was accepted", name)
		}
	}
}
