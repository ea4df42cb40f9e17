package engine

import (
	"context"
	"testing"
	"time"

	"github.com/pushbench/pushbench/k6/internal/schedule"
	"github.com/pushbench/pushbench/k6/internal/scripted"
)

const (
	killedAt = 2500 * time.Millisecond // the steady window begins at 1.5 s
	apart    = 2 * time.Second
)

// withOutage returns a stage of 4 s. After 1 s something is killed, and for 2 s more messages are counted separately.
func withOutage(kill string) schedule.Schedule {
	s := oneStage
	s.Stages = []schedule.Stage{{
		Clients: players, RampSeconds: 0.5, SettleSeconds: 0.5, SteadySeconds: 4,
		Outage: &schedule.Outage{Kill: kill, AtSeconds: 1, WithinSeconds: apart.Seconds()},
	}}
	s.DrainSeconds = 1
	return s
}

var (
	shortPauses = schedule.Backoff{Base: 100 * time.Millisecond, Cap: 400 * time.Millisecond}
	longPauses  = schedule.Backoff{Base: time.Second, Cap: time.Second}
)

// playOutage plays that stage with short pauses, and calls each function at its time.
func playOutage(t testing.TB, server *scripted.Server, kill string, at map[time.Duration]func()) StageReport {
	t.Helper()
	return playOutageWith(t, shortPauses, server, kill, at)
}

func playOutageWith(
	t testing.TB, pauses schedule.Backoff, server *scripted.Server, kill string, at map[time.Duration]func(),
) StageReport {
	t.Helper()
	e := newEngine(t, server, withOutage(kill))
	e.config.Backoff = pauses
	origin := time.Now()
	server.Arm(origin)
	done := make(chan struct{}, len(at))
	for moment, do := range at {
		time.AfterFunc(time.Until(origin.Add(moment)), func() {
			do()
			done <- struct{}{}
		})
	}
	e.Play(context.Background(), origin)
	for range at {
		<-done
	}
	return reportOf(t, e).Stages[0]
}

func restart(t testing.TB, server *scripted.Server) func() {
	return func() {
		if err := server.Restart(); err != nil {
			t.Error(err)
		}
	}
}

// expectUsual expects the messages outside of the outage to be complete. The outage leaves one second for them.
func expectUsual(t testing.TB, stage StageReport) {
	t.Helper()
	if want := int64(players * groupSize); stage.Receipts.Expected != want || stage.Receipts.Received != want {
		t.Errorf("outside of the outage: %+v, expected %d received", stage.Receipts, want)
	}
	c := stage.Clients
	if c.Members != players || c.Groups != players/groupSize || c.Disconnects != 0 || c.ConnectFailures != 0 {
		t.Errorf("clients %+v: expected all of them, and what the outage did is not told here", c)
	}
}

func TestClientsComeBackFromAKilledServerWithinTheBoundsOfTheirPauses(t *testing.T) {
	truthTest(t, func(t testing.TB) {
		const down = 600 * time.Millisecond
		server := startScripted(t, scripted.Faults{})
		stage := playOutage(t, server, "server", map[time.Duration]func(){
			killedAt: server.Kill, killedAt + down: restart(t, server),
		})
		o := stage.Outage
		expectUsual(t, stage)
		if o.Disconnects != players || o.NotBack != 0 || o.BackUS == nil {
			t.Fatalf("%+v: expected %d clients to go and to come back", o, players)
		}
		back := time.Duration(*o.BackUS)*time.Microsecond - killedAt
		if longest := down + 400*time.Millisecond + 100*time.Millisecond; back < down || back > longest {
			t.Errorf("all were back after %s, expected %s to %s", back, down, longest)
		}
		if o.Attempts != o.Disconnects+o.Failed || o.Failed < players {
			t.Errorf("%+v: in %s each client fails at least once, and succeeds once", o, down)
		}
		away, reconnect := decode(t, o.Away), decode(t, o.Reconnect)
		if away.TotalCount() != players || time.Duration(away.Min())*time.Microsecond < down-10*time.Millisecond {
			t.Errorf("%d clients were away, for at least %d us: the server was for %s", away.TotalCount(), away.Min(), down)
		}
		if reconnect.TotalCount() != players || reconnect.Max() > 100_000 {
			t.Errorf("%d attempts succeeded, in %d us at most", reconnect.TotalCount(), reconnect.Max())
		}
		last := (killedAt + 50*time.Millisecond).Microseconds()
		if o.LostAfter != 0 || o.LastLostUS != nil && *o.LastLostUS > last {
			t.Errorf("%+v: expected that of what was sent only what was under way was lost", o)
		}
		if o.Receipts.Expected >= players*groupSize*3-players*groupSize*6/10 || o.Messages.Due != players*3 {
			t.Errorf("%+v: what is sent to nobody is owed to nobody", o)
		}
	})
}

func TestAServerThatNeverReturnsIsToldWithoutWaiting(t *testing.T) {
	truthTest(t, func(t testing.TB) {
		server := startScripted(t, scripted.Faults{})
		began := time.Now()
		stage := playOutage(t, server, "server", map[time.Duration]func(){killedAt: server.Kill})
		if took := time.Since(began); took > 12*time.Second {
			t.Errorf("the load took %s", took)
		}
		if o := stage.Outage; o.NotBack != players || o.BackUS != nil || o.Attempts != o.Failed || o.Attempts < 2*players {
			t.Errorf("%+v: expected %d clients that try in vain", o, players)
		}
		if stage.Clients.Members != 0 || stage.Receipts.Expected != 0 {
			t.Errorf("%+v, %+v: expected nobody, who is owed nothing", stage.Clients, stage.Receipts)
		}
	})
}

func TestAClientThatComesBackTooLateIsToldAndItsTimeIsKnown(t *testing.T) {
	truthTest(t, func(t testing.TB) {
		server := startScripted(t, scripted.Faults{})
		stage := playOutage(t, server, "server", map[time.Duration]func(){
			killedAt: server.Kill, killedAt + apart: restart(t, server),
		})
		o := stage.Outage
		if o.NotBack != players || o.BackUS == nil || *o.BackUS < (killedAt+apart).Microseconds() {
			t.Errorf("%+v: expected %d clients to be back after the window", o, players)
		}
		if stage.Clients.Members != players {
			t.Errorf("%+v: expected all to be back at the end of the stage", stage.Clients)
		}
	})
}

func TestOthersAreOwedWhatAKilledWorkersClientsCannotSend(t *testing.T) {
	truthTest(t, func(t testing.TB) {
		const every = 2
		server := startScripted(t, scripted.Faults{})
		reset := 0
		stage := playOutageWith(t, longPauses, server, "worker", map[time.Duration]func(){
			killedAt: func() { reset = server.Reset(every) },
		})
		o := stage.Outage
		expectUsual(t, stage)
		if reset != players/every || o.Disconnects != int64(reset) || o.NotBack != 0 || o.Failed != 0 {
			t.Errorf("%+v: expected %d clients to come back at once", o, reset)
		}
		// Pauses last 0 to 1 s, and each client sends once a second to the remaining members, of whom there are at least 2.
		n, lost := o.Messages.Unsent, o.Receipts.Lost
		if n < 3 || n > int64(reset) || lost < 2*n || lost > (n+1)*groupSize {
			t.Errorf("%+v: expected a few messages that could not be sent, which the others miss", o)
		}
		if o.LostAfter != 0 {
			t.Errorf("%+v: expected nothing to be lost once all were back", o)
		}
	})
}

func TestWhatAServerLosesOnceAllAreBackIsCountedExactly(t *testing.T) {
	t.Parallel()
	for name, from := range map[string]time.Duration{"inside": time.Second, "outside": apart} {
		t.Run(name, func(t *testing.T) {
			truthTest(t, func(t testing.TB) {
				const down, long = 200 * time.Millisecond, 800 * time.Millisecond
				server := startScripted(t, scripted.Faults{
					DropEvery: 10, After: killedAt + from + 50*time.Millisecond, Until: killedAt + from + long,
				})
				stage := playOutage(t, server, "server", map[time.Duration]func(){
					killedAt: server.Kill, killedAt + down: restart(t, server),
				})
				dropped, o := server.Counts().Dropped, stage.Outage
				found, other := o.LostAfter, stage.Receipts.Lost
				if name == "outside" {
					found, other = other, found
				}
				if dropped < 5 || found != dropped || other != 0 {
					t.Errorf("%d lost %s, %d elsewhere; the server dropped %d", found, name, other, dropped)
				}
			})
		})
	}
}

func TestAServiceThatIsAwayShowsWhenTheLastMessageWasLost(t *testing.T) {
	truthTest(t, func(t testing.TB) {
		const down = 700 * time.Millisecond
		server := startScripted(t, scripted.Faults{DropEvery: 1, After: killedAt, Until: killedAt + down})
		stage := playOutage(t, server, "service", nil)
		o := stage.Outage
		expectUsual(t, stage)
		if dropped := server.Counts().Dropped; o.Receipts.Lost != dropped || o.Disconnects != 0 || o.BackUS != nil {
			t.Errorf("%+v: expected nobody to go, and %d to be lost", o, dropped)
		}
		if o.LastLostUS == nil {
			t.Fatal("nothing was lost")
		}
		last := time.Duration(*o.LastLostUS)*time.Microsecond - killedAt
		if last > down || last < down-150*time.Millisecond {
			t.Errorf("the last message was lost %s after the kill, expected about %s", last, down)
		}
	})
}

func TestAConnectionThatEndsOutsideOfAnOutageDoesNotComeBack(t *testing.T) {
	truthTest(t, func(t testing.TB) {
		server := startScripted(t, scripted.Faults{})
		stage := playOutage(t, server, "worker", map[time.Duration]func(){
			killedAt + apart + 100*time.Millisecond: func() { server.Reset(players / 2) },
		})
		if c := stage.Clients; c.Disconnects != 2 || c.Members != players-2 || stage.Receipts.Lost == 0 {
			t.Errorf("%+v, %+v: expected 2 clients to be gone for good", c, stage.Receipts)
		}
		if o := stage.Outage; o.Disconnects != 0 || o.Receipts.Lost != 0 {
			t.Errorf("%+v: expected nothing in the outage", o)
		}
	})
}

func TestClientsWithRequestsHaveNoOutage(t *testing.T) {
	t.Parallel()
	_, err := New(Config{
		URL: "http://127.0.0.1:1", Protocol: "token-stream-sse", Schedule: withOutage("server"),
		Groups: []schedule.Groups{{Size: 1, Pattern: schedule.Patterns["closed"]}},
	})
	if err == nil {
		t.Error("an outage was accepted")
	}
}
