package engine

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/pushbench/pushbench/k6/internal/ledger"
	"github.com/pushbench/pushbench/k6/internal/schedule"
	"github.com/pushbench/pushbench/k6/internal/scripted"
)

// These truth tests cover typing games, whose rooms the server names.

const (
	typists = 12
	seats   = 6
	shortly = 10 // characters: ten right keys plus the wrong ones
)

// quickly removes most of the waiting of a room.
func quickly(faults scripted.GameFaults) scripted.GameFaults {
	faults.Wait, faults.Countdown = 400*time.Millisecond, 200*time.Millisecond
	return faults
}

// gamesFor has all typists connect within half a second and play for that long.
func gamesFor(seconds float64) schedule.Schedule {
	return schedule.Schedule{
		Stages:       []schedule.Stage{{Clients: typists, RampSeconds: 0.5, SteadySeconds: seconds}},
		DrainSeconds: 2,
	}
}

// typing returns the groups of the suite, with games of that many characters.
func typing(length int) schedule.Groups {
	return schedule.Groups{
		Size: seats, Pattern: schedule.Patterns["keystrokes"], Length: length,
		Beside: []schedule.Beside{{Name: "ping", Pattern: schedule.Patterns["steady"]}},
	}
}

// playGames has the typists play through a scripted server, and returns the reports of both sides.
func playGames(
	t testing.TB, s schedule.Schedule, length int, faults scripted.GameFaults,
) (*Report, *Engine, scripted.GameCounts) {
	t.Helper()
	server, err := scripted.StartGames("127.0.0.1:0", quickly(faults))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	e, err := New(Config{
		URL: server.URL(), Protocol: "typing-game-socketio", Seed: 7, Schedule: s, Loops: 2,
		Groups: []schedule.Groups{typing(length)},
	})
	if err != nil {
		t.Fatal(err)
	}
	origin := time.Now()
	server.Arm(origin)
	e.Play(context.Background(), origin)
	return reportOf(t, e), e, server.Counts()
}

// gamePings sums the counts of the pings of all stages, and of pings that belong to none.
func gamePings(e *Engine) ledger.Counts {
	var sum ledger.Counts
	for _, l := range e.loops {
		for stage := ledger.Unmeasured; stage < len(e.windows); stage++ {
			sum.Add(l.sidelines[1].ledger.Stage(stage))
		}
	}
	return sum
}

// timesSaid returns how often the errors have a reason with that prefix.
func timesSaid(report *Report, reason string) int64 {
	var sum int64
	for _, found := range report.Errors {
		if strings.HasPrefix(found.Reason, reason) {
			sum += found.Count
		}
	}
	return sum
}

func TestAKnownDelayOfUpdatesComesBackExactly(t *testing.T) {
	t.Parallel()
	for _, delay := range []time.Duration{0, 50 * time.Millisecond} {
		t.Run(delay.String(), func(t *testing.T) {
			truthTest(t, func(t testing.TB) {
				report, e, did := playGames(t, gamesFor(4), 150, scripted.GameFaults{Delay: delay})
				stage, all := report.Stages[0], everything(e)
				if all.Sent != did.Keystrokes || all.Received != did.Deliveries || all.Expected != all.Sent*seats ||
					all.Lost()+all.Duplicate+all.Corrupt+all.Ineligible+all.OutOfOrder != 0 {
					t.Errorf("%+v, the server did %+v", all, did)
				}
				if least := int64(typists * 5 * 2); stage.Messages.Sent < least || did.Strayed != 0 {
					t.Errorf("%+v: expected at least %d keys, five a second of each", stage.Messages, least)
				}
				updates, low := decode(t, stage.Histograms.Each), delay.Microseconds()
				if updates.Min() < low-low/500 || updates.ValueAtQuantile(95) > low+10_000 {
					t.Errorf("updates of %d to %d us, expected %d", updates.Min(), updates.ValueAtQuantile(95), low)
				}
				acks := decode(t, stage.Beside["ping"].Own)
				if acks.TotalCount() < typists*3 || acks.ValueAtQuantile(95) > 10_000 {
					t.Errorf("%d acks, p95 %d us", acks.TotalCount(), acks.ValueAtQuantile(95))
				}
				if c := stage.Clients; c.Members != typists || c.Groups != typists/seats || c.ConnectFailures != 0 {
					t.Errorf("%+v", c)
				}
				if len(report.Errors) != 0 {
					t.Errorf("%+v", report.Errors)
				}
			})
		})
	}
}

func TestRoomsAreBornAndDieWhileTheSameClientsPlay(t *testing.T) {
	truthTest(t, func(t testing.TB) {
		report, e, did := playGames(t, gamesFor(9), shortly, scripted.GameFaults{})
		stage, all := report.Stages[0], everything(e)
		if all.Received != did.Deliveries || all.Lost()+all.Corrupt != 0 || did.Strayed != 0 {
			t.Errorf("%+v, the server did %+v", all, did)
		}
		rooms := stage.Rooms
		if rooms == nil || rooms.Ended < 4 || rooms.Begun > did.Rooms || rooms.Ended > did.Ended ||
			did.Ended-rooms.Ended > typists/seats || did.Rooms-rooms.Begun > 2*typists/seats {
			t.Errorf("%+v, the server had %d and ended %d: expected two games or more in each room", rooms, did.Rooms,
				did.Ended)
		}
		if c := stage.Clients; c.Members != typists || c.Disconnects != 0 || len(report.Errors) != 0 {
			t.Errorf("%+v, %+v", c, report.Errors)
		}
	})
}

func TestFaultsOfStatesAreCountedExactly(t *testing.T) {
	t.Parallel()
	for name, faults := range map[string]scripted.GameFaults{
		"dropped":    {DropEvery: 50},
		"duplicated": {DuplicateEvery: 50},
		"miscounted": {MiscountEvery: 50},
		"crossed":    {CrossEvery: 50},
	} {
		t.Run(name, func(t *testing.T) {
			truthTest(t, func(t testing.TB) {
				report, e, did := playGames(t, gamesFor(4), shortly, faults)
				all := everything(e)
				if lost := did.Dropped + did.Miscounted + did.Crossed; all.Lost() != lost {
					t.Errorf("lost %d, expected %d", all.Lost(), lost)
				}
				if all.Duplicate != did.Duplicated || all.Corrupt != did.Miscounted+did.Crossed {
					t.Errorf("%+v, the server did %+v", all, did)
				}
				if did.Dropped+did.Duplicated+did.Miscounted+did.Crossed == 0 {
					t.Error("the server did nothing wrong, so nothing was tested")
				}
				if all.Corrupt > 0 {
					expectReason(t, report, "first corrupt delivery: ")
				}
			})
		})
	}
}

func TestFaultsOfPingsAreCountedExactly(t *testing.T) {
	t.Parallel()
	for name, faults := range map[string]scripted.GameFaults{
		"never":   {UnansweredEvery: 5},
		"twice":   {TwiceEvery: 5},
		"others":  {ForeignEvery: 5},
		"altered": {AlteredEvery: 5},
	} {
		t.Run(name, func(t *testing.T) {
			truthTest(t, func(t testing.TB) {
				_, e, did := playGames(t, gamesFor(3), 150, faults)
				all := gamePings(e)
				if lost := did.Unanswered + did.Misanswered + did.Altered; all.Lost() != lost || all.Sent != did.Pings {
					t.Errorf("%+v, expected %d pings and %d lost", all, did.Pings, lost)
				}
				if all.Duplicate != did.AnsweredTwice || all.Corrupt != did.Misanswered+did.Altered {
					t.Errorf("%+v, the server did %+v", all, did)
				}
				if did.Unanswered+did.AnsweredTwice+did.Misanswered+did.Altered == 0 {
					t.Error("the server did nothing wrong, so nothing was tested")
				}
				if updates := everything(e); updates.Lost()+updates.Duplicate+updates.Corrupt != 0 {
					t.Errorf("%+v: the pings' faults count as those of keys", updates)
				}
			})
		})
	}
}

func TestARoomThatEndsEarlyIsCorruptAndLosesTheKeysUnderWay(t *testing.T) {
	truthTest(t, func(t testing.TB) {
		const key = 20
		report, e, did := playGames(t, gamesFor(5), 150, scripted.GameFaults{EndAt: key})
		all := everything(e)
		least, most := did.Cut*seats, (did.Cut+did.Strayed)*seats
		if did.Cut < 4 || all.Lost() < least || all.Lost() > most || all.Sent != did.Keystrokes+did.Strayed {
			t.Errorf("%+v, the server did %+v: expected %d to %d lost", all, did, least, most)
		}
		if all.Corrupt != did.Ended*seats {
			t.Errorf("%d corrupt, expected one for each player of %d rooms", all.Corrupt, did.Ended)
		}
		expectReason(t, report, "first corrupt delivery: ")
		if rooms := report.Stages[0].Rooms; rooms.Ended == 0 {
			t.Errorf("%+v", rooms)
		}
	})
}

func TestAMatchmakingThatRefusesForAWhileIsTroubleAndNoEnd(t *testing.T) {
	truthTest(t, func(t testing.TB) {
		s := gamesFor(3)
		s.WarmupSeconds = 3
		report, e, did := playGames(t, s, 150, scripted.GameFaults{RefuseFor: 2 * time.Second})
		if said := timesSaid(report, "matchmaking: HTTP 503"); did.Refused < typists || said != did.Refused {
			t.Errorf("%d refusals told of %d: %+v", said, did.Refused, report.Errors)
		}
		c := report.Stages[0].Clients
		if c.Members != typists || c.ConnectFailures != did.Refused || c.Late != 0 {
			t.Errorf("%+v, the server did %+v", c, did)
		}
		if all := everything(e); all.Lost()+all.Corrupt != 0 || all.Received != did.Deliveries {
			t.Errorf("%+v, the server did %+v", all, did)
		}
		slowest := decode(t, report.Stages[0].Histograms.Connect).Max()
		if slowest < 1_500_000 || slowest > 3_200_000 {
			t.Errorf("a client was in after %d us, expected about 2 s", slowest)
		}
	})
}

func TestAJoinThatIsRefusedIsAskedForAgain(t *testing.T) {
	truthTest(t, func(t testing.TB) {
		s := gamesFor(3)
		s.WarmupSeconds = 2
		report, e, did := playGames(t, s, 150, scripted.GameFaults{DenyEvery: 5})
		if said := timesSaid(report, "the server refused a join: no seat"); did.Denied == 0 || said != did.Denied {
			t.Errorf("%d refusals told of %d: %+v", said, did.Denied, report.Errors)
		}
		if c := report.Stages[0].Clients; c.Members != typists || c.ConnectFailures != 0 {
			t.Errorf("%+v", c)
		}
		if all := everything(e); all.Lost()+all.Corrupt != 0 {
			t.Errorf("%+v", all)
		}
	})
}
