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

// often returns a pattern with a much shorter period than that of the suite's clients.
func often(period time.Duration) schedule.Pattern { return schedule.Pattern{Period: period, Count: 1} }

const (
	sharers      = 16
	sharersGroup = 4
)

// playPositions has clients share positions through a scripted server, and returns the reports of both sides.
func playPositions(
	t testing.TB, protocol string, pattern schedule.Pattern, faults scripted.LocationFaults,
) (*Report, *Engine, scripted.LocationCounts) {
	t.Helper()
	server, err := scripted.StartLocation("127.0.0.1:0", faults)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	e, err := New(Config{
		URL: server.URL(), Protocol: protocol, Seed: 7, Schedule: twoSeconds(sharers), Loops: 2,
		Groups: []schedule.Groups{{Size: sharersGroup, Pattern: pattern}},
	})
	if err != nil {
		t.Fatal(err)
	}
	e.Play(context.Background(), time.Now())
	return reportOf(t, e), e, server.Counts()
}

// told reports whether clients got what the server sent them. What it sent when they joined is not owed.
func told(all ledger.Counts, did scripted.LocationCounts) bool {
	return all.Received <= did.Told && did.Told <= all.Received+all.Ineligible
}

func TestAPositionIsAsOldAsItsTransportMakesIt(t *testing.T) {
	t.Parallel()
	const delay = 100 * time.Millisecond
	for protocol, longest := range map[string]time.Duration{
		"location-poll": delay + time.Second, "location-long-poll": delay, "location-sse": delay,
		"location-websocket": delay,
	} {
		t.Run(protocol, func(t *testing.T) {
			truthTest(t, func(t testing.TB) {
				report, e, did := playPositions(t, protocol, schedule.Patterns["position"],
					scripted.LocationFaults{Delay: delay})
				stage, all := report.Stages[0], everything(e)
				if all.Sent != did.Put || !told(all, did) || all.Lost() != 0 || all.Superseded != 0 {
					t.Errorf("%+v, the server did %+v", all, did)
				}
				missing := all.Sent*(sharersGroup-1) - all.Expected // owed to members that joined later
				if missing < 0 || missing > sharers*(sharersGroup-1)/2 || all.Received < sharers*(sharersGroup-1)/2 {
					t.Errorf("%+v: a position is owed to each other member", all)
				}
				age := decode(t, stage.Histograms.Each)
				if age.Min() < (delay - delay/500).Microseconds() {
					t.Errorf("an age of %d us is below the delay", age.Min())
				}
				if most := (longest + 20*time.Millisecond).Microseconds(); age.ValueAtQuantile(95) > most {
					t.Errorf("age p95 %d us, expected at most %d", age.ValueAtQuantile(95), most)
				}
				if polled := protocol == "location-poll"; polled && age.ValueAtQuantile(90) < 2*delay.Microseconds() {
					t.Errorf("age p90 %d us: a poll comes half a period later in the mean", age.ValueAtQuantile(90))
				}
				if c := stage.Clients; c.Members != sharers || c.Groups != sharers/sharersGroup || c.Disconnects != 0 {
					t.Errorf("%+v", c)
				}
				if len(report.Errors) != 0 {
					t.Errorf("%+v", report.Errors)
				}
			})
		})
	}
}

func TestASupersededPositionIsCountedAndNotLost(t *testing.T) {
	t.Parallel()
	for _, protocol := range []string{"location-poll", "location-long-poll"} {
		t.Run(protocol, func(t *testing.T) {
			truthTest(t, func(t testing.TB) {
				faults := scripted.LocationFaults{}
				if protocol == "location-long-poll" {
					faults.Late = 700 * time.Millisecond
				}
				report, e, did := playPositions(t, protocol, often(200*time.Millisecond), faults)
				all := everything(e)
				if did.Superseded < all.Sent || all.Superseded != did.Superseded || !told(all, did) {
					t.Errorf("%+v, the server did %+v", all, did)
				}
				if all.Lost() != 0 || all.Duplicate != 0 || all.OutOfOrder != 0 {
					t.Errorf("%+v", all)
				}
				if receipts := report.Stages[0].Receipts; receipts.Superseded == 0 ||
					receipts.Expected != receipts.Received+receipts.Superseded {
					t.Errorf("%+v", receipts)
				}
			})
		})
	}
}

func TestAPositionThatNobodyIsToldOfIsLostWhereEachIsTold(t *testing.T) {
	t.Parallel()
	for _, protocol := range []string{"location-sse", "location-websocket"} {
		t.Run(protocol, func(t *testing.T) {
			truthTest(t, func(t testing.TB) {
				_, e, did := playPositions(t, protocol, often(250*time.Millisecond), scripted.LocationFaults{HideEvery: 40})
				all := everything(e)
				if did.Hidden == 0 || all.Lost() > did.Hidden*(sharersGroup-1) || all.Lost() < did.Hidden ||
					all.Superseded != 0 || !told(all, did) {
					t.Errorf("%+v, the server did %+v", all, did)
				}
			})
		})
	}
}

func TestAPositionElsewhereIsCorrupt(t *testing.T) {
	t.Parallel()
	for _, protocol := range []string{"location-poll", "location-sse", "location-websocket"} {
		t.Run(protocol, func(t *testing.T) {
			truthTest(t, func(t testing.TB) {
				_, e, did := playPositions(t, protocol, schedule.Patterns["position"],
					scripted.LocationFaults{AlterEvery: 5})
				if all := everything(e); did.Altered == 0 || all.Corrupt == 0 || all.Corrupt > did.Altered*(sharersGroup-1) {
					t.Errorf("%+v, the server did %+v", all, did)
				}
			})
		})
	}
}

func TestALateAnswerToALongPollMakesPositionsOlder(t *testing.T) {
	truthTest(t, func(t testing.TB) {
		const late = 300 * time.Millisecond
		report, e, did := playPositions(t, "location-long-poll", schedule.Patterns["position"],
			scripted.LocationFaults{Late: late})
		all, age := everything(e), decode(t, report.Stages[0].Histograms.Each)
		if all.Lost() != 0 || !told(all, did) {
			t.Errorf("%+v, the server did %+v", all, did)
		}
		if age.Max() > (late + 50*time.Millisecond).Microseconds() {
			t.Errorf("the oldest is %d us old, expected at most %s", age.Max(), late)
		}
		if age.Max() < (late / 4).Microseconds() {
			t.Errorf("the oldest is %d us old: none waited", age.Max())
		}
	})
}

func TestAnEarlyAnswerToALongPollLosesNothing(t *testing.T) {
	truthTest(t, func(t testing.TB) {
		report, e, did := playPositions(t, "location-long-poll", schedule.Patterns["position"],
			scripted.LocationFaults{EarlyEvery: 2})
		all := everything(e)
		if did.Early == 0 || all.Lost() != 0 || !told(all, did) || all.Duplicate != 0 {
			t.Errorf("%+v, the server did %+v", all, did)
		}
		if c := report.Stages[0].Clients; c.Disconnects != 0 || len(report.Errors) != 0 {
			t.Errorf("%+v, %+v", c, report.Errors)
		}
	})
}

func TestASecondAnswerToAPollEndsTheConnection(t *testing.T) {
	truthTest(t, func(t testing.TB) {
		report, e, did := playPositions(t, "location-long-poll", often(250*time.Millisecond),
			scripted.LocationFaults{TwiceEvery: 30})
		var unasked int64
		for _, each := range report.Errors {
			if strings.Contains(each.Reason, "nobody asked for") {
				unasked += each.Count
			}
		}
		if did.Twice == 0 || unasked != did.Twice {
			t.Errorf("%+v, the server did %+v", report.Errors, did)
		}
		if all := everything(e); all.Lost() == 0 {
			t.Errorf("%+v: a client without a connection gets nothing", all)
		}
	})
}

func TestAPollThatIsNeverAnsweredLosesPositions(t *testing.T) {
	t.Parallel()
	for _, protocol := range []string{"location-poll", "location-long-poll"} {
		t.Run(protocol, func(t *testing.T) {
			truthTest(t, func(t testing.TB) {
				_, e, did := playPositions(t, protocol, schedule.Patterns["position"],
					scripted.LocationFaults{NeverAfter: sharers + 10})
				all := everything(e)
				if did.Never != sharers || !told(all, did) ||
					all.Lost() < all.Expected/2 {
					t.Errorf("%+v, the server did %+v", all, did)
				}
			})
		})
	}
}

func TestARefusedPositionIsLostAndTold(t *testing.T) {
	truthTest(t, func(t testing.TB) {
		report, e, did := playPositions(t, "location-sse", often(250*time.Millisecond),
			scripted.LocationFaults{RefuseEvery: 40})
		all := everything(e)
		if did.Refused == 0 || all.Lost() < did.Refused || !told(all, did) {
			t.Errorf("%+v, the server did %+v", all, did)
		}
		if len(report.Errors) != 1 || report.Errors[0].Count != did.Refused {
			t.Errorf("%+v, %d refused", report.Errors, did.Refused)
		}
	})
}

func TestTheEndOfTheSecondConnectionIsADisconnect(t *testing.T) {
	truthTest(t, func(t testing.TB) {
		report, _, _ := playPositions(t, "location-sse", often(250*time.Millisecond), scripted.LocationFaults{EndPuts: 40})
		if clients := report.Stages[0].Clients; clients.Disconnects != 1 || clients.Members != sharers-1 {
			t.Errorf("%+v, %+v", clients, report.Errors)
		}
	})
}
