package engine

import (
	"strings"
	"testing"
	"time"

	"github.com/pushbench/pushbench/k6/internal/ledger"
	"github.com/pushbench/pushbench/k6/internal/schedule"
	"github.com/pushbench/pushbench/k6/internal/scripted"
)

// These truth tests cover whiteboard-socketio.

// playSocketIO has all players draw over Socket.IO, and returns the reports of both sides.
func playSocketIO(t testing.TB, faults scripted.Faults) (*Report, ledger.Counts, scripted.Counts) {
	t.Helper()
	server := startScripted(t, faults)
	e, err := New(Config{
		URL: server.URL(), Protocol: "whiteboard-socketio", Seed: 7, Schedule: oneStage, Loops: 2,
		Groups: []schedule.Groups{{Size: groupSize, Pattern: schedule.Patterns["steady"]}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return play(t, e, server), everything(e), server.Counts()
}

// expectReason expects that the report has a reason with that prefix.
func expectReason(t testing.TB, report *Report, reason string) {
	t.Helper()
	for _, found := range report.Errors {
		if strings.HasPrefix(found.Reason, reason) {
			return
		}
	}
	t.Errorf("errors %+v, expected %q", report.Errors, reason)
}

func TestDrawsOverSocketIOAreCountedExactly(t *testing.T) {
	t.Parallel()
	for name, faults := range map[string]scripted.Faults{
		"no faults":      {},
		"1 % dropped":    {DropEvery: 100},
		"1 % duplicated": {DuplicateEvery: 100},
		"1 % swapped":    {SwapEvery: 100},
		"1 % corrupted":  {CorruptEvery: 100},
		"20 crossed":     {CrossEvery: 20, Most: 20},
	} {
		t.Run(name, func(t *testing.T) {
			truthTest(t, func(t testing.TB) {
				faults.After = time.Second // once all clients have joined
				report, saw, did := playSocketIO(t, faults)
				if lost := did.Dropped + did.Corrupted + did.Held - did.Swapped; saw.Lost() != lost {
					t.Errorf("lost %d, expected %d", saw.Lost(), lost)
				}
				if saw.Duplicate != did.Duplicated || saw.OutOfOrder != did.Swapped ||
					saw.Corrupt != did.Corrupted+did.Crossed {
					t.Errorf("%+v, the server did %+v", saw, did)
				}
				if want := int64(players * groupSize * 3); report.Stages[0].Receipts.Expected != want {
					t.Errorf("%+v, expected %d", report.Stages[0].Receipts, want)
				}
			})
		})
	}
}

func TestAcknowledgementsThatAreWrongAreSeen(t *testing.T) {
	t.Parallel()
	for name, faults := range map[string]scripted.Faults{
		"never":  {UnansweredEvery: 10},
		"twice":  {TwiceEvery: 10},
		"others": {ForeignEvery: 10},
	} {
		t.Run(name, func(t *testing.T) {
			truthTest(t, func(t testing.TB) {
				report, saw, did := playSocketIO(t, faults)
				if want := did.AnsweredTwice + did.Misanswered; saw.Corrupt != want {
					t.Errorf("%d corrupt, expected %d", saw.Corrupt, want)
				}
				if again := did.Unanswered + did.Misanswered; did.Pings != players+again {
					t.Errorf("%d joins, expected %d and %d that were repeated", did.Pings, players, again)
				}
				if clients := report.Stages[0].Clients; clients.Members != players || clients.Disconnects != 0 {
					t.Errorf("clients %+v, expected %d members", clients, players)
				}
				if did.Unanswered+did.AnsweredTwice+did.Misanswered == 0 {
					t.Error("the server did nothing wrong, so nothing was tested")
				}
				if saw.Corrupt > 0 {
					expectReason(t, report, "first corrupt delivery: ")
				}
			})
		})
	}
}

func TestPingsOfTheEngineAreAnsweredInTime(t *testing.T) {
	truthTest(t, func(t testing.TB) {
		const interval = 200 * time.Millisecond
		report, _, did := playSocketIO(t, scripted.Faults{PingInterval: interval, PingTimeout: time.Second})
		if least := int64(players * 3 * time.Second / interval / 2); did.EnginePings < least {
			t.Errorf("%d pings, expected at least %d", did.EnginePings, least)
		}
		if unanswered := did.EnginePings - did.EnginePongs; unanswered < 0 || unanswered > players {
			t.Errorf("%d pings and %d pongs: expected no more than the last one of each client to be unanswered",
				did.EnginePings, did.EnginePongs)
		}
		if disconnects := report.Stages[0].Clients.Disconnects; did.LatePongs != 0 || disconnects != 0 {
			t.Errorf("%d late pongs, %d disconnects", did.LatePongs, disconnects)
		}
	})
}

func TestAServerThatStopsPingingLosesItsClients(t *testing.T) {
	truthTest(t, func(t testing.TB) {
		report, saw, _ := playSocketIO(t, scripted.Faults{
			PingInterval: 100 * time.Millisecond, PingTimeout: 900 * time.Millisecond, PingsUntil: 2 * time.Second,
		})
		clients := report.Stages[0].Clients
		if clients.Disconnects != players || clients.Members != 0 || saw.Lost() == 0 {
			t.Errorf("clients %+v, lost %d: expected that all leave", clients, saw.Lost())
		}
		expectReason(t, report, "the server has been silent for longer than it said")
	})
}

func TestABinaryMessageBreaksTheProtocol(t *testing.T) {
	truthTest(t, func(t testing.TB) {
		const few = 3
		report, _, did := playSocketIO(t, scripted.Faults{BinaryFirst: few})
		for _, found := range report.Errors {
			if found.Reason == "a binary message, where only text is spoken" && found.Count == few {
				return
			}
		}
		t.Errorf("errors %+v of %d joins: expected %d of binary messages", report.Errors, did.Binaries, few)
	})
}
