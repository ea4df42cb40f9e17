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

func TestEveryWindowOfWholePeriodsHasTheSameNumberOfMessages(t *testing.T) {
	for name, pattern := range Patterns {
		for member := range 50 {
			phase := pattern.Phase(1, 3, member)
			window := Window{40 * time.Second, 40*time.Second + 3*pattern.Period}
			n := 0
			for i := pattern.From(phase, window.Begin); pattern.Due(phase, i) < window.End; i++ {
				n++
			}
			if n != 3*pattern.Count {
				t.Errorf("%s, member %d: %d messages in three periods, expected %d", name, member, n, 3*pattern.Count)
			}
		}
	}
}

func TestFromIsTheFirstMessageThatIsNotOver(t *testing.T) {
	for name, pattern := range Patterns {
		phase := pattern.Phase(9, 0, 4)
		for at := time.Duration(0); at < 45*time.Second; at += 37 * time.Millisecond {
			n := pattern.From(phase, at)
			if pattern.Due(phase, n) < at || n > 0 && pattern.Due(phase, n-1) >= at {
				t.Fatalf("%s at %v: message %d is due at %v", name, at, n, pattern.Due(phase, n))
			}
		}
	}
}

func TestPhasesAreSpreadOverThePeriodAndSharedOnlyWhereTheyShouldBe(t *testing.T) {
	steady, simultaneous := Patterns["steady"], Patterns["simultaneous"]
	var tenths [10]int
	for client := range 1000 {
		phase := steady.Phase(5, client/10, client%10)
		tenths[phase*10/time.Second]++
		if simultaneous.Phase(5, client/10, client%10) != simultaneous.Phase(5, client/10, 0) {
			t.Error("members of a group must send together")
		}
	}
	for i, n := range tenths {
		if n < 60 || n > 140 { // 100 expected, standard deviation 9.5
			t.Errorf("tenth %d of the period has %d of 1000 phases", i, n)
		}
	}
	if steady.Phase(5, 0, 0) == steady.Phase(6, 0, 0) {
		t.Error("another seed must give other phases")
	}
}

func TestOnlyWritersSend(t *testing.T) {
	if !Patterns["sparse"].Sends(0) || Patterns["sparse"].Sends(1) || !Patterns["steady"].Sends(99) {
		t.Error("sparse has one writer a group, steady has all")
	}
}
