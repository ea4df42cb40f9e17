package engine

import (
	"context"
	"math"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pushbench/pushbench/k6/internal/schedule"
	"github.com/pushbench/pushbench/k6/internal/scripted"
)

// These truth tests cover a server that lacks a resource, and a generator that does.

// full is 260 clients on boards of 20, which is 5,200 deliveries a second. Its steady window is seconds 2 to 6.
var full = schedule.Schedule{
	Stages:       []schedule.Stage{{Clients: 260, RampSeconds: 1, SettleSeconds: 1, SteadySeconds: 4}},
	DrainSeconds: 5,
}

func TestAServerThatQueuesIsChargedWithWhatArrivedNotWithWhatWasDue(t *testing.T) {
	truthTest(t, func(t testing.TB) {
		server := startScripted(t, scripted.Faults{Capacity: 4000})
		e := newEngineOf(t, server, full, []schedule.Groups{{Size: 20, Pattern: schedule.Patterns["steady"]}})
		report := play(t, e, server)
		stage := report.Stages[0]
		const due, arrived = 4 * 5200, 4 * 4000
		if stage.Receipts.Expected != due || stage.Receipts.Lost != 0 {
			t.Errorf("%+v: expected %d, and all arrive in the end", stage.Receipts, due)
		}
		if math.Abs(float64(stage.Arrived-arrived)) > 0.01*arrived {
			t.Errorf("%d arrived in the window, expected %d within 1 %%", stage.Arrived, arrived)
		}
		if seconds := sum(report.Timeline.Received[2:6]); seconds != stage.Arrived {
			t.Errorf("%d arrived by the second, %d in the stage", seconds, stage.Arrived)
		}
	})
}

func TestConnectsCountFromWhenTheyWereDueThroughEveryRefusal(t *testing.T) {
	truthTest(t, func(t testing.TB) {
		server := startScripted(t, scripted.Faults{RefuseFor: 4 * time.Second})
		s := schedule.Schedule{Stages: []schedule.Stage{{Clients: players, RampSeconds: 0.5, SettleSeconds: 0.5,
			SteadySeconds: 5}}}
		stage := play(t, newEngine(t, server, s), server).Stages[0]
		// They are due in the first half second. Every second after that, all succeed with the attempt 4 s later.
		connect := decode(t, stage.Histograms.Connect)
		if connect.TotalCount() != players || connect.Min() < 3_990_000 || connect.ValueAtQuantile(99) > 4_100_000 {
			t.Errorf("%d connected after %d to %d us, expected %d after 4 s", connect.TotalCount(), connect.Min(),
				connect.Max(), players)
		}
		clients := stage.Clients
		if clients.Late != players || clients.ConnectFailures != 4*players || clients.Members != players ||
			clients.Disconnects != 0 {
			t.Errorf("clients %+v: expected %d late and four refusals each", clients, players)
		}
	})
}

func TestAServerThatAcceptsSlowlyShowsInConnectsAndInWhoIsLate(t *testing.T) {
	truthTest(t, func(t testing.TB) {
		server := startScripted(t, scripted.Faults{AcceptPause: 20 * time.Millisecond})
		s := schedule.Schedule{Stages: []schedule.Stage{{Clients: players, RampSeconds: 0.5, SteadySeconds: 2}}}
		stage := play(t, newEngine(t, server, s), server).Stages[0]
		// The n-th client is due after n * 12.5 ms and accepted after n * 20 ms; the window begins when the 25th is.
		connect := decode(t, stage.Histograms.Connect)
		if p50, longest := connect.ValueAtQuantile(50), connect.Max(); p50 < 145_000 || p50 > 200_000 ||
			longest < 295_000 || longest > 400_000 {
			t.Errorf("connect p50 %d us, longest %d us, expected about 150,000 and 300,000", p50, longest)
		}
		if late := stage.Clients.Late; late < 14 || late > 20 {
			t.Errorf("%d clients were late, expected 15 or 16", late)
		}
	})
}

func TestAResetInTheHandshakeIsARefusalAndTheClientComesAgain(t *testing.T) {
	truthTest(t, func(t testing.TB) {
		server := startScripted(t, scripted.Faults{ResetFirst: 10})
		report := play(t, newEngine(t, server, oneStage), server)
		stage := report.Stages[0]
		clients := stage.Clients
		if clients.ConnectFailures != 10 || clients.Disconnects != 0 || clients.Members != players ||
			clients.Groups != players/groupSize {
			t.Errorf("clients %+v: expected ten failures, and everybody there", clients)
		}
		if connect := decode(t, stage.Histograms.Connect); connect.Max() < 1_000_000 ||
			connect.ValueAtQuantile(70) > 500_000 {
			t.Errorf("connect p70 %d us, longest %d us: expected a second for a quarter", connect.ValueAtQuantile(70),
				connect.Max())
		}
		if len(report.Shortages) != 0 {
			t.Errorf("shortages %+v: the server reset the connections", report.Shortages)
		}
	})
}

func TestAClientThatIsTurnedAwayKeepsItsSeat(t *testing.T) {
	truthTest(t, func(t testing.TB) {
		server := startScripted(t, scripted.Faults{CloseFirst: 20})
		stage := play(t, newEngine(t, server, oneStage), server).Stages[0]
		want := Clients{Target: players, Playing: players, Connected: players, Members: players,
			Groups: players / groupSize, Disconnects: 20}
		if stage.Clients != want {
			t.Errorf("clients %+v, expected %+v", stage.Clients, want)
		}
		if expected := int64(players * groupSize * 3); stage.Receipts.Expected != expected ||
			stage.Receipts.Lost != 0 {
			t.Errorf("%+v: expected %d deliveries on full boards", stage.Receipts, expected)
		}
	})
}

func TestALoadThatIsInterruptedKeepsTheStagesThatWerePlayed(t *testing.T) {
	truthTest(t, func(t testing.TB) {
		server := startScripted(t, scripted.Faults{})
		of := func(clients int) schedule.Stage {
			return schedule.Stage{Clients: clients, RampSeconds: 0.5, SettleSeconds: 0.5, SteadySeconds: 2}
		}
		e := newEngine(t, server, schedule.Schedule{Stages: []schedule.Stage{of(20), of(40), of(60)}, DrainSeconds: 5})
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second) // reached in the second stage
		defer cancel()
		e.Play(ctx, time.Now())
		if took := e.now(); took > 5*time.Second+2*closeTimeout {
			t.Errorf("the load ended after %s", took)
		}
		report := reportOf(t, e)
		if len(report.Stages) != 1 || report.Stages[0].Receipts.Received != 20*groupSize*2 {
			t.Errorf("stages %+v: expected the first, whole", report.Stages)
		}
		if seconds := len(report.Timeline.Sent); seconds < 5 || seconds > 7 {
			t.Errorf("%d seconds were kept, expected 5 or 6", seconds)
		}
	})
}

// TestAGeneratorThatMayOpenTooFewFilesSaysSo runs in a process of its own, which may open 60 files for 80 clients.
func TestAGeneratorThatMayOpenTooFewFilesSaysSo(t *testing.T) {
	const limited = "PUSH_TEST_LIMITED_URL"
	if url := os.Getenv(limited); url != "" {
		playWithFewFiles(t, url)
		return
	}
	truthTest(t, func(t testing.TB) {
		server := startScripted(t, scripted.Faults{})
		command := exec.Command(os.Args[0], "-test.run", "^"+t.Name()+"$", "-test.v")
		command.Env = append(os.Environ(), limited+"="+server.URL())
		if output, err := command.CombinedOutput(); err != nil || !strings.Contains(string(output), "--- PASS") {
			t.Errorf("%v\n%s", err, output)
		}
	})
}

func playWithFewFiles(t testing.TB, url string) {
	e, err := New(Config{
		URL: url, Protocol: "whiteboard-json", Seed: 7, Loops: 1,
		Schedule: schedule.Schedule{Stages: []schedule.Stage{{Clients: 80, RampSeconds: 0.5, SettleSeconds: 0.5,
			SteadySeconds: 1}}},
		Groups: []schedule.Groups{{Size: groupSize, Pattern: schedule.Patterns["steady"]}},
	})
	if err != nil {
		t.Fatal(err)
	}
	limit := syscall.Rlimit{Cur: 60, Max: 60}
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	e.Play(context.Background(), time.Now())
	report, err := e.Report("test", nil)
	if err != nil {
		t.Fatal(err)
	}
	clients := report.Stages[0].Clients
	if clients.ConnectFailures != 0 || clients.Members < 40 || clients.Members > 60 {
		t.Errorf("clients %+v: expected no failure of the server, and some 50 members", clients)
	}
	if len(report.Shortages) != 1 || report.Shortages[0].Reason != "open_files" || report.Shortages[0].Count < 20 {
		t.Errorf("shortages %+v: expected open_files, 20 times at least", report.Shortages)
	}
}
