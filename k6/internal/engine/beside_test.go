package engine

import (
	"strings"
	"testing"
	"time"

	"github.com/pushbench/pushbench/k6/internal/ledger"
	"github.com/pushbench/pushbench/k6/internal/protocol"
	"github.com/pushbench/pushbench/k6/internal/schedule"
	"github.com/pushbench/pushbench/k6/internal/scripted"
)

// These truth tests cover exchanges that clients have beside those of their groups.

// playPings has every client ping once a second beside its messages, and returns the reports of both sides.
func playPings(t testing.TB, s schedule.Schedule, faults scripted.Faults) (*Report, *Engine, scripted.Counts) {
	t.Helper()
	server := startScripted(t, faults)
	steady := schedule.Patterns["steady"]
	pings := schedule.Groups{Size: groupSize, Pattern: steady,
		Beside: []schedule.Beside{{Name: protocol.PingExchange, Pattern: steady}}}
	groups := make([]schedule.Groups, len(s.Stages))
	for i := range groups {
		groups[i] = pings
	}
	e := newEngineOf(t, server, s, groups)
	return play(t, e, server), e, server.Counts()
}

// pings sums the counts of the pings of all stages, and of pings that belong to none.
func pings(e *Engine) ledger.Counts {
	var sum ledger.Counts
	for _, l := range e.loops {
		for stage := ledger.Unmeasured; stage < len(e.windows); stage++ {
			sum.Add(l.sidelines[0].ledger.Stage(stage))
		}
	}
	return sum
}

func TestAnExchangeBesideTheFirstHasCountsAndLatenciesOfItsOwn(t *testing.T) {
	truthTest(t, func(t testing.TB) {
		report, e, did := playPings(t, oneStage, scripted.Faults{Delay: 50 * time.Millisecond})
		stage := report.Stages[0]
		beside := stage.Beside[protocol.PingExchange]
		if want := (Messages{Due: players * 3, Sent: players * 3}); stage.Messages != want || beside.Messages != want {
			t.Errorf("messages %+v, pings %+v, expected %+v of each", stage.Messages, beside.Messages, want)
		}
		if want := (Receipts{Expected: players * 3, Received: players * 3}); beside.Receipts != want {
			t.Errorf("pongs %+v, expected %+v", beside.Receipts, want)
		}
		if want := int64(players * groupSize * 3); stage.Receipts.Received != want || stage.Arrived < want*9/10 ||
			stage.Arrived > want*11/10 {
			t.Errorf("deliveries %+v, %d arrived: expected %d without the pongs", stage.Receipts, stage.Arrived, want)
		}
		if own := decode(t, beside.Own); own.TotalCount() != players*3 || own.ValueAtQuantile(50) > 10_000 {
			t.Errorf("%d pongs, p50 %d us: expected %d at once", own.TotalCount(), own.ValueAtQuantile(50), players*3)
		}
		if all := pings(e); all.Sent != did.Pings || all.Lost() != 0 {
			t.Errorf("%+v, the server got %d pings", all, did.Pings)
		}
	})
}

func TestFaultsOfExchangesBesideTheFirstAreCountedExactly(t *testing.T) {
	t.Parallel()
	for name, faults := range map[string]scripted.Faults{
		"never":  {UnansweredEvery: 10},
		"twice":  {TwiceEvery: 10},
		"others": {ForeignEvery: 10},
	} {
		t.Run(name, func(t *testing.T) {
			truthTest(t, func(t testing.TB) {
				report, e, did := playPings(t, oneStage, faults)
				all := pings(e)
				if lost := did.Unanswered + did.Misanswered; all.Lost() != lost || all.Sent != did.Pings {
					t.Errorf("%+v, expected %d pings and %d lost", all, did.Pings, lost)
				}
				if all.Duplicate != did.AnsweredTwice || all.Corrupt != did.Misanswered {
					t.Errorf("%+v, expected %d duplicates and %d corrupt", all, did.AnsweredTwice, did.Misanswered)
				}
				if did.Unanswered+did.AnsweredTwice+did.Misanswered == 0 {
					t.Error("the server did nothing wrong, so nothing was tested")
				}
				if first := report.Stages[0].Receipts; first.Lost+first.Duplicate+first.Corrupt != 0 {
					t.Errorf("%+v: the pings' faults count as those of messages", first)
				}
			})
		})
	}
}

func TestPingsOfAServerThatDiesAreLost(t *testing.T) {
	truthTest(t, func(t testing.TB) {
		server := startScripted(t, scripted.Faults{})
		steady := schedule.Patterns["steady"]
		e := newEngineOf(t, server, oneStage, []schedule.Groups{{Size: groupSize, Pattern: steady,
			Beside: []schedule.Beside{{Name: protocol.PingExchange, Pattern: steady}}}})
		time.AfterFunc(3*time.Second, server.Close)
		beside := play(t, e, server).Stages[0].Beside[protocol.PingExchange]
		if m := beside.Messages; m.Due != players*3 || m.Unsent < players || m.Sent+m.Unsent != m.Due {
			t.Errorf("%+v: expected %d due and a good third unsent", m, players*3)
		}
		if share := float64(beside.Receipts.Lost) / float64(beside.Receipts.Expected); share < 0.4 || share > 0.6 {
			t.Errorf("lost %.2f of a stage through whose middle the server died", share)
		}
	})
}

func TestClientsThatLeaveOweNoPings(t *testing.T) {
	truthTest(t, func(t testing.TB) {
		coming := func(clients int) schedule.Stage {
			return schedule.Stage{Clients: clients, RampSeconds: 1, SteadySeconds: 0.5}
		}
		_, e, did := playPings(t, schedule.Schedule{Stages: []schedule.Stage{coming(players), coming(players / 2)},
			DrainSeconds: 2}, scripted.Faults{})
		if all := pings(e); all.Lost() != 0 || all.Sent != did.Pings || all.Sent < players {
			t.Errorf("%+v, the server got %d pings", all, did.Pings)
		}
	})
}

func TestClosedStagesAndRatesOfGroupsAreRefused(t *testing.T) {
	for _, pattern := range []schedule.Pattern{schedule.Patterns["closed"], {Rate: 10}} {
		_, err := New(Config{URL: "http://127.0.0.1:9", Protocol: "whiteboard-json", Schedule: oneStage,
			Groups: []schedule.Groups{{Size: 5, Pattern: pattern}}})
		if err == nil || !strings.HasPrefix(err.Error(), "clients in groups send by a pattern") {
			t.Errorf("%+v: %v", pattern, err)
		}
	}
}

func TestAnExchangeThatTheProtocolDoesNotHaveIsRefused(t *testing.T) {
	for name, want := range map[string]string{
		"whiteboard-json": `exchange "shout": known are websocket_ping`,
		"posts-http":      `exchange "shout": the clients of this protocol have none beside their requests`,
	} {
		_, err := New(Config{URL: "http://127.0.0.1:9", Protocol: name, Schedule: oneStage, Groups: []schedule.Groups{{
			Size: 1, Pattern: schedule.Patterns["steady"], Beside: []schedule.Beside{{Name: "shout"}}}}})
		if err == nil || err.Error() != want {
			t.Errorf("%s: %v, expected %s", name, err, want)
		}
	}
}
