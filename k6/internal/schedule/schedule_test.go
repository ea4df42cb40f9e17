package schedule

import (
	"testing"
	"time"
)

func stage(clients int, ramp, settle, steady float64) Stage {
	return Stage{Clients: clients, RampSeconds: ramp, SettleSeconds: settle, SteadySeconds: steady}
}

func TestWindowsFollowRampWarmUpAndSettling(t *testing.T) {
	s := Schedule{WarmupSeconds: 8, Stages: []Stage{stage(100, 2, 1, 6), stage(300, 2, 1, 6)}, DrainSeconds: 10}
	want := []Window{{11 * time.Second, 17 * time.Second}, {20 * time.Second, 26 * time.Second}}
	for i, window := range s.Windows() {
		if window != want[i] {
			t.Errorf("stage %d: %v, expected %v", i, window, want[i])
		}
	}
	if s.End() != 26*time.Second {
		t.Errorf("end %v", s.End())
	}
}

func TestAScheduleThatCannotBePlayedIsRefused(t *testing.T) {
	for name, s := range map[string]Schedule{
		"no stages":       {},
		"no clients":      {Stages: []Stage{stage(0, 1, 1, 1)}},
		"nothing steady":  {Stages: []Stage{stage(1, 1, 1, 0)}},
		"negative ramp":   {Stages: []Stage{stage(1, -1, 1, 1)}},
		"negative warmup": {WarmupSeconds: -1, Stages: []Stage{stage(1, 1, 1, 1)}},
	} {
		if s.Check() == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestOnlyWritersSend(t *testing.T) {
	if !Patterns["sparse"].Sends(0) || Patterns["sparse"].Sends(1) || !Patterns["steady"].Sends(99) {
		t.Error("sparse has one writer a group, steady has all")
	}
}
