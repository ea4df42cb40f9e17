package engine

import (
	"testing"
	"time"

	"github.com/pushbench/pushbench/k6/internal/schedule"
	"github.com/pushbench/pushbench/k6/internal/scripted"
)

// These truth tests cover loads whose clients are replaced by others, on other boards.

// changing is 30 clients on boards of 5, then 20 and 40 on boards of 10. Its steady windows are whole seconds: 2 to 4,
// 7 to 9, 10 to 11.
var changing = schedule.Schedule{
	WarmupSeconds: 1,
	Stages: []schedule.Stage{
		{Clients: 30, RampSeconds: 0.5, SettleSeconds: 0.5, SteadySeconds: 2},
		{Clients: 20, RampSeconds: 2.5, SettleSeconds: 0.5, SteadySeconds: 2},
		{Clients: 40, RampSeconds: 0.5, SettleSeconds: 0.5, SteadySeconds: 1},
	},
	DrainSeconds: 2,
}

// playChanging plays the changing load.
func playChanging(t testing.TB, faults scripted.Faults) (*Report, *Engine, *scripted.Server) {
	t.Helper()
	server := startScripted(t, faults)
	steady := schedule.Patterns["steady"]
	e := newEngineOf(t, server, changing, []schedule.Groups{{Size: 5, Pattern: steady}, {Size: 10, Pattern: steady},
		{Size: 10, Pattern: steady}})
	return play(t, e, server), e, server
}

// expectExact compares a stage of the changing load with that of a server that loses this many deliveries and nothing
// else.
func expectExact(t testing.TB, report *Report, stage int, lost int64) {
	t.Helper()
	planned, size, connected := changing.Stages[stage], []int64{5, 10, 10}[stage], []int64{30, 20, 20}[stage]
	clients := int64(planned.Clients)
	messages := clients * int64(planned.SteadySeconds)
	got := report.Stages[stage]
	if want := (Clients{Target: clients, Playing: clients, Connected: clients, Members: clients,
		Groups: clients / size}); got.Clients != want {
		t.Errorf("stage %d: clients %+v, expected %+v", stage, got.Clients, want)
	}
	if want := (Messages{Due: messages, Sent: messages}); got.Messages != want {
		t.Errorf("stage %d: messages %+v, expected %+v", stage, got.Messages, want)
	}
	if want := (Receipts{Expected: messages * size, Received: messages*size - lost,
		Lost: lost}); got.Receipts != want {
		t.Errorf("stage %d: deliveries %+v, expected %+v", stage, got.Receipts, want)
	}
	if n := decode(t, got.Histograms.Connect).TotalCount(); n != connected {
		t.Errorf("stage %d: %d clients connected, expected %d", stage, n, connected)
	}
}

func TestClientsOfTheNextRampAreNotCountedInAStageHoweverLateALoopIs(t *testing.T) {
	t.Parallel()
	growing := schedule.Schedule{Stages: []schedule.Stage{{Clients: 10, RampSeconds: 1, SteadySeconds: 1},
		{Clients: 20, RampSeconds: 1, SteadySeconds: 1}}}
	e := newEngine(t, startScripted(t, scripted.Faults{}), growing)
	for _, l := range e.loops {
		l.seat(e.populations[0])
		l.fire(e.windows[1].End) // everything is due at once, as after a long pause
	}
	for stage, want := range []int64{10, 20} {
		if got := e.clients(stage).Playing; got != want {
			t.Errorf("stage %d: %d clients, expected %d", stage, got, want)
		}
	}
}

func TestAChangeOfBoardsIsCountedExactly(t *testing.T) {
	truthTest(t, func(t testing.TB) {
		report, e, server := playChanging(t, scripted.Faults{Delay: 20 * time.Millisecond})
		for stage := range changing.Stages {
			expectExact(t, report, stage, 0)
		}
		if sent := report.Timeline.Sent; sent[2] == 0 || sent[5] != 0 || sent[8] == 0 {
			t.Errorf("sent %v: expected nothing while the first clients drain and leave", sent)
		}
		if did, saw := server.Counts(), everything(e); saw.Received+saw.Ineligible != did.Deliveries ||
			saw.Lost() != 0 {
			t.Errorf("%+v, but the server delivered %d", saw, did.Deliveries)
		}
	})
}

func TestLossesAreFoundInTheirOwnPopulationOnly(t *testing.T) {
	t.Parallel()
	// Well inside the windows: what is delivered then was due there.
	for stage, after := range []time.Duration{2500 * time.Millisecond, 7500 * time.Millisecond} {
		t.Run(changing.Windows()[stage].Begin.String(), func(t *testing.T) {
			truthTest(t, func(t testing.TB) {
				report, e, server := playChanging(t, scripted.Faults{DropEvery: 20, After: after,
					Until: after + 1200*time.Millisecond})
				dropped := server.Counts().Dropped
				if dropped == 0 {
					t.Fatal("the server dropped nothing, so nothing was tested")
				}
				expectExact(t, report, stage, dropped)
				expectExact(t, report, 1-stage, 0)
				expectExact(t, report, 2, 0)
				if took := e.now(); stage == 0 && took > changing.End()+1800*time.Millisecond {
					t.Errorf("the load took %v: it waited for what its first clients had lost", took)
				}
			})
		})
	}
}

func TestAServerThatNeverClosesDoesNotHoldUpTheNextClients(t *testing.T) {
	truthTest(t, func(t testing.TB) {
		report, e, _ := playChanging(t, scripted.Faults{KeepOpen: true})
		for stage := range changing.Stages {
			expectExact(t, report, stage, 0)
		}
		if took := e.now(); took > changing.End()+schedule.MinimumDrain+2*closeTimeout {
			t.Errorf("the load took %v", took)
		}
	})
}

func TestWhoWasRefusedBeforeAChangeTakesPartBehindIt(t *testing.T) {
	truthTest(t, func(t testing.TB) {
		report, _, _ := playChanging(t, scripted.Faults{RefuseBeyond: 25})
		for stage, want := range []int64{25, 20, 25} {
			if clients := report.Stages[stage].Clients; clients.Members != want || clients.Connected != want {
				t.Errorf("stage %d: clients %+v, expected %d", stage, clients, want)
			}
		}
		if lost := report.Stages[1].Receipts.Lost; lost != 0 {
			t.Errorf("lost %d with everybody there", lost)
		}
	})
}
