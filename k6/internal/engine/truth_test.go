package engine

import (
	"context"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"github.com/pushbench/pushbench/k6/internal/clock"
	"github.com/pushbench/pushbench/k6/internal/ledger"
	"github.com/pushbench/pushbench/k6/internal/parallel"
	"github.com/pushbench/pushbench/k6/internal/schedule"
	"github.com/pushbench/pushbench/k6/internal/scripted"
)

// The truth tests play real clients over real sockets against a server whose faults are known, and expect the report to
// match exactly what the server did. Times have tolerance for a busy machine; counts have none.

// together is how many tests run in parallel. They mostly wait for their schedules: all of them together need 25 s of
// CPU. With 32 in parallel, half of the runs repeat a test alone, which takes longer than the parallelism saves.
const together = 24

func TestMain(m *testing.M) {
	parallel.Tests(strconv.Itoa(together))
	// Two event loops of each test block in the kernel while they hold their processors, until the runtime takes these
	// back some 10 ms later. With a processor for each loop, no other goroutine waits for that.
	runtime.GOMAXPROCS(2 * together)
	watchMachine()
	m.Run()
}

const (
	players   = 40
	groupSize = 5
)

var oneStage = schedule.Schedule{
	WarmupSeconds: 0.5,
	Stages:        []schedule.Stage{{Clients: players, RampSeconds: 0.5, SettleSeconds: 0.5, SteadySeconds: 3}},
	DrainSeconds:  2,
}

func startScripted(t testing.TB, faults scripted.Faults) *scripted.Server {
	t.Helper()
	server, err := scripted.Start("127.0.0.1:0", faults)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	return server
}

func newEngine(t testing.TB, server *scripted.Server, s schedule.Schedule, speak ...tongue) *Engine {
	t.Helper()
	groups := make([]schedule.Groups, len(s.Stages))
	for i := range groups {
		groups[i] = schedule.Groups{Size: groupSize, Pattern: schedule.Patterns["steady"]}
	}
	return newEngineOf(t, server, s, groups, speak...)
}

func newEngineOf(
	t testing.TB, server *scripted.Server, s schedule.Schedule, groups []schedule.Groups, speak ...tongue,
) *Engine {
	t.Helper()
	config := Config{URL: server.URL(), Seed: 7, Schedule: s, Groups: groups, Loops: 2}
	for _, say := range append([]tongue{builtIn}, speak...) {
		say(t, &config)
	}
	e, err := New(config)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// play runs the load to its end.
func play(t testing.TB, e *Engine, server *scripted.Server) *Report {
	t.Helper()
	origin := time.Now()
	server.Arm(origin)
	e.Play(context.Background(), origin)
	return reportOf(t, e)
}

func reportOf(t testing.TB, e *Engine) *Report {
	t.Helper()
	report, err := e.Report("test", nil)
	if err != nil {
		t.Fatal(err)
	}
	expectSecondsToAddUp(t, e, report)
	return report
}

func decode(t testing.TB, encoded string) *hdrhistogram.Histogram {
	t.Helper()
	h, err := hdrhistogram.Decode([]byte(encoded))
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// everything sums the ledger over all stages and the account that belongs to none.
func everything(e *Engine) ledger.Counts {
	var sum ledger.Counts
	for _, l := range e.loops {
		for stage := ledger.Unmeasured; stage < e.accounts(); stage++ {
			sum.Add(l.ledger.Stage(stage))
		}
	}
	return sum
}

func TestAKnownDelayComesBackInAllThreeLatencies(t *testing.T) {
	t.Parallel()
	s, seconds := oneStage, int64(3)
	if testing.Short() {
		seconds = 1
		s.Stages = slices.Clone(s.Stages)
		s.Stages[0].SteadySeconds = 1
	}
	wantMessages := players * seconds
	wantDeliveries := wantMessages * groupSize
	for _, delay := range []time.Duration{0, 5 * time.Millisecond, 50 * time.Millisecond} {
		t.Run(delay.String(), func(t *testing.T) {
			inBoth(t, playTruthTest, func(t testing.TB, speak tongue) {
				server := startScripted(t, scripted.Faults{Delay: delay})
				stage := play(t, newEngine(t, server, s, speak), server).Stages[0]

				if stage.Receipts.Received != wantDeliveries || stage.Receipts.Lost != 0 {
					t.Errorf("deliveries %+v, expected %d and none lost", stage.Receipts, wantDeliveries)
				}
				if stage.Messages != (Messages{Due: wantMessages, Sent: wantMessages}) {
					t.Errorf("messages %+v, expected %d due and sent", stage.Messages, wantMessages)
				}
				counts := map[string]int64{"echo": wantMessages, "delivery": wantDeliveries, "fanout": wantMessages}
				encoded := map[string]string{
					"echo": stage.Histograms.Own, "delivery": stage.Histograms.Each, "fanout": stage.Histograms.Last,
				}
				for name, text := range encoded {
					h := decode(t, text)
					if h.TotalCount() != counts[name] {
						t.Errorf("%s: %d latencies, expected %d", name, h.TotalCount(), counts[name])
					}
					low, high := delay.Microseconds(), (delay + 10*time.Millisecond).Microseconds()
					if p50 := h.ValueAtQuantile(50); p50 < low || p50 > high {
						t.Errorf("%s: p50 %d us, expected %d to %d", name, p50, low, high)
					}
					if h.Min() < low-low/500 { // histograms keep 3 digits
						t.Errorf("%s: minimum %d us is below the delay", name, h.Min())
					}
				}
			})
		})
	}
}

func TestALoadThatBeginsLaterIsTheSameLoad(t *testing.T) {
	truthTest(t, func(t testing.TB) {
		server := startScripted(t, scripted.Faults{})
		e := newEngine(t, server, oneStage)
		begin := AtMonotonic(clock.Monotonic() + 1_000_000)
		e.Play(context.Background(), begin)
		stage := reportOf(t, e).Stages[0]
		if want := int64(players * groupSize * 3); stage.Receipts.Received != want || stage.Clients.Late != 0 {
			t.Errorf("deliveries %+v, clients %+v: expected %d and nobody late", stage.Receipts, stage.Clients, want)
		}
		if took := time.Since(begin); took < oneStage.End() {
			t.Errorf("the load ended %s after its beginning, before its schedule", took)
		}
	})
}

func TestALoopThatSpinsPlaysTheSameLoadAndTellsHowLong(t *testing.T) {
	t.Parallel()
	for _, spin := range []time.Duration{0, 200 * time.Microsecond} {
		t.Run(spin.String(), func(t *testing.T) {
			truthTest(t, func(t testing.TB) {
				server := startScripted(t, scripted.Faults{})
				e := newEngine(t, server, oneStage)
				e.config.Spin = spin
				stage := play(t, e, server).Stages[0]
				if want := int64(players * groupSize * 3); stage.Receipts.Received != want ||
					stage.Receipts.Lost != 0 {
					t.Errorf("deliveries %+v, expected %d", stage.Receipts, want)
				}
				// Before each message and each border; even a loop that must not spin wakes up early by its lead.
				most := (spin + leadLimit) * (3*players + 10)
				if spun := time.Duration(stage.SpunUS) * time.Microsecond; spun > most || spin > 0 && spun == 0 {
					t.Errorf("spun for %s, expected at most %s", spun, most)
				}
			})
		})
	}
}

func TestAStallIsSeenByEveryMessageThatWasDueInIt(t *testing.T) {
	inBoth(t, truthTest, func(t testing.TB, speak tongue) {
		const stall, floor = 500 * time.Millisecond, 100 * time.Millisecond
		begin := 2500 * time.Millisecond
		server := startScripted(t, scripted.Faults{StallAt: begin, StallFor: stall})
		e := newEngine(t, server, oneStage, speak)
		stage := play(t, e, server).Stages[0]

		// A message due at t inside the stall is late by the rest of the stall: above the floor if t < begin + stall - floor.
		var slow int64
		var worst time.Duration
		for number := range players {
			pattern := schedule.Patterns["steady"]
			messages := pattern.Sequence(e.config.Seed, number/groupSize, number%groupSize)
			for messages.SkipTo(begin); messages.Due() < begin+stall-floor; messages.Advance() {
				slow++
				worst = max(worst, begin+stall-messages.Due())
			}
		}
		if slow < 10 {
			t.Fatalf("only %d messages were due in the stall", slow)
		}
		for name, check := range map[string]struct {
			encoded string
			want    int64
		}{
			"echo":     {stage.Histograms.Own, slow},
			"delivery": {stage.Histograms.Each, slow * groupSize},
			"fanout":   {stage.Histograms.Last, slow},
		} {
			h := decode(t, check.encoded)
			var above int64
			for _, bar := range h.Distribution() {
				if bar.From >= floor.Microseconds() {
					above += bar.Count
				}
			}
			if tolerance := check.want/20 + groupSize; above < check.want-tolerance || above > check.want+tolerance {
				t.Errorf("%s: %d latencies above %s, expected about %d", name, above, floor, check.want)
			}
			if longest := time.Duration(h.Max()) * time.Microsecond; longest < worst-2*time.Millisecond ||
				longest > worst+50*time.Millisecond {
				t.Errorf("%s: the longest is %s, expected about %s", name, longest, worst)
			}
		}
		if stage.Receipts.Lost != 0 || stage.Messages.Unsent != 0 {
			t.Errorf("a stall loses nothing: %+v %+v", stage.Receipts, stage.Messages)
		}
	})
}

func TestFaultsAreCountedExactly(t *testing.T) {
	t.Parallel()
	for name, faults := range map[string]scripted.Faults{
		"1 % dropped":    {DropEvery: 100},
		"1 % duplicated": {DuplicateEvery: 100},
		"1 % swapped":    {SwapEvery: 100},
		"1 % corrupted":  {CorruptEvery: 100},
		"20 corrupted":   {CorruptEvery: 20, Most: 20},
		"20 crossed":     {CrossEvery: 20, Most: 20},
		"all at once":    {DropEvery: 101, DuplicateEvery: 103, SwapEvery: 107, CorruptEvery: 109},
	} {
		t.Run(name, func(t *testing.T) {
			inBoth(t, truthTest, func(t testing.TB, speak tongue) {
				// After a second all clients have joined, so that no fault hits a delivery that is not owed.
				faults := faults
				faults.After = time.Second
				server := startScripted(t, faults)
				e := newEngine(t, server, oneStage, speak)
				play(t, e, server)
				did, saw := server.Counts(), everything(e)
				neverReleased := did.Held - did.Swapped // its sender sent nothing more
				if want := did.Dropped + did.Corrupted + neverReleased; saw.Lost() != want {
					t.Errorf("lost %d, expected %d", saw.Lost(), want)
				}
				if saw.Duplicate != did.Duplicated {
					t.Errorf("duplicates %d, expected %d", saw.Duplicate, did.Duplicated)
				}
				if saw.OutOfOrder != did.Swapped {
					t.Errorf("out of order %d, expected %d", saw.OutOfOrder, did.Swapped)
				}
				if saw.Corrupt != did.Corrupted+did.Crossed {
					t.Errorf("corrupt %d, expected %d altered and %d of other boards", saw.Corrupt, did.Corrupted,
						did.Crossed)
				}
				if faults.Most > 0 && did.Corrupted+did.Crossed != faults.Most {
					t.Errorf("the server altered %d and crossed %d, expected %d", did.Corrupted, did.Crossed,
						faults.Most)
				}
				first := slices.ContainsFunc(e.collector.counted(e.collector.reasons), func(e ErrorCount) bool {
					return strings.HasPrefix(e.Reason, "first corrupt delivery: ")
				})
				if first != (saw.Corrupt > 0) {
					t.Errorf("the first corrupt delivery is described: %v, and %d were corrupt", first, saw.Corrupt)
				}
				if did.Dropped+did.Duplicated+did.Swapped+did.Corrupted+did.Crossed == 0 {
					t.Error("the server did nothing wrong, so nothing was tested")
				}
				if saw.Expected+saw.Ineligible != did.Deliveries+saw.Lost() {
					t.Errorf("expected %d, but the server delivered %d and %d were lost", saw.Expected+saw.Ineligible,
						did.Deliveries, saw.Lost())
				}
			})
		})
	}
}

func TestLateJoinersAndLeaversCostNoLoss(t *testing.T) {
	inBoth(t, truthTest, func(t testing.TB, speak tongue) {
		// so that messages are on their way at any time
		server := startScripted(t, scripted.Faults{Delay: 20 * time.Millisecond})
		coming := func(clients int) schedule.Stage {
			return schedule.Stage{Clients: clients, RampSeconds: 1, SteadySeconds: 0.1}
		}
		s := schedule.Schedule{Stages: []schedule.Stage{coming(players), coming(players / 3), coming(players)},
			DrainSeconds: 3}
		e := newEngine(t, server, s, speak)
		report := play(t, e, server)
		counts := everything(e)
		if counts.Lost() != 0 || counts.Duplicate != 0 || counts.OutOfOrder != 0 || counts.Corrupt != 0 {
			t.Errorf("%+v: nothing may be lost", counts)
		}
		if counts.Received < players*groupSize {
			t.Errorf("%+v: hardly anything was delivered", counts)
		}
		for i, want := range []int64{players, players / 3, players} {
			if clients := report.Stages[i].Clients; clients.Members != want || clients.Playing != want ||
				clients.Late != 0 {
				t.Errorf("stage %d: clients %+v, expected %d", i, clients, want)
			}
		}
	})
}

func TestAServerThatDeliversNothingLosesEverything(t *testing.T) {
	inBoth(t, truthTest, func(t testing.TB, speak tongue) {
		server := startScripted(t, scripted.Faults{Silent: true})
		stage := play(t, newEngine(t, server, oneStage, speak), server).Stages[0]
		if want := int64(players * groupSize * 3); stage.Receipts.Lost != want || stage.Receipts.Expected != want {
			t.Errorf("%+v: expected %d lost", stage.Receipts, want)
		}
	})
}

func TestAServerThatDiesLosesWhatWasStillDue(t *testing.T) {
	inBoth(t, truthTest, func(t testing.TB, speak tongue) {
		server := startScripted(t, scripted.Faults{})
		e := newEngine(t, server, oneStage, speak)
		time.AfterFunc(3*time.Second, server.Close)
		stage := play(t, e, server).Stages[0]
		if stage.Messages.Due != players*3 || stage.Messages.Unsent < players {
			t.Errorf("%+v: expected %d due and at least %d unsent", stage.Messages, players*3, players)
		}
		if share := float64(stage.Receipts.Lost) / float64(stage.Receipts.Expected); share < 0.4 || share > 0.6 {
			t.Errorf("lost %.2f of a stage through whose middle the server died", share)
		}
		if stage.Clients.Disconnects != players || stage.Clients.Members != 0 {
			t.Errorf("clients %+v: expected %d disconnects", stage.Clients, players)
		}
	})
}

func TestRefusedClientsAreCountedAndKeepTrying(t *testing.T) {
	inBoth(t, truthTest, func(t testing.TB, speak tongue) {
		server := startScripted(t, scripted.Faults{RefuseBeyond: 30})
		e := newEngine(t, server, oneStage, speak)
		report := play(t, e, server)
		clients := report.Stages[0].Clients
		if clients.Target != players || clients.Playing != players || clients.Connected != 30 ||
			clients.ConnectFailures < 20 {
			t.Errorf("clients %+v: expected 30 of %d, and two attempts at least of the other 10", clients, players)
		}
		if len(report.Errors) == 0 || report.Errors[0].Reason != "opening handshake: HTTP 503" {
			t.Errorf("errors %+v: expected the refusals", report.Errors)
		}
	})
}
