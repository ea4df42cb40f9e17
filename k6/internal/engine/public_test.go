package engine

import (
	"context"
	"testing"
	"time"

	"github.com/pushbench/pushbench/k6/internal/schedule"
	"github.com/pushbench/pushbench/k6/internal/scripted"
)

// The truth tests of public protocols play the declarations of docs/examples against servers that behave as the
// protocols' documents say.

// briefly is one short stage, for servers without faults.
var briefly = schedule.Schedule{
	WarmupSeconds: 0.2,
	Stages:        []schedule.Stage{{Clients: players, RampSeconds: 0.3, SettleSeconds: 0.3, SteadySeconds: 1}},
	DrainSeconds:  0.5,
}

func TestPublicProtocolsAreCountedExactly(t *testing.T) {
	t.Parallel()
	for name := range scripted.Publics {
		t.Run(name, func(t *testing.T) {
			truthTest(t, func(t testing.TB) { countPublic(t, name) })
		})
	}
}

func countPublic(t testing.TB, name string) {
	t.Helper()
	server, err := scripted.StartPublic("127.0.0.1:0", name)
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	config := Config{
		URL: server.URL(), Seed: 7, Schedule: briefly, Loops: 2,
		Groups: []schedule.Groups{{Size: groupSize, Pattern: schedule.Patterns["steady"]}},
	}
	declare(t, &config, name)
	e, err := New(config)
	if err != nil {
		t.Fatal(err)
	}
	e.Play(context.Background(), time.Now())
	report := reportOf(t, e)
	stage, did := report.Stages[0], server.Counts()
	want := Receipts{Expected: players * groupSize, Received: players * groupSize}
	if stage.Receipts != want || len(report.Errors) > 0 {
		t.Errorf("%+v %+v, expected %+v", stage.Receipts, report.Errors, want)
	}
	// While clients join, one may receive what was sent before it was told of its membership.
	if saw := everything(e); saw.Received+saw.Ineligible != did.Deliveries || saw.Corrupt > 0 {
		t.Errorf("%+v, and the server delivered %d", saw, did.Deliveries)
	}
	if did.Joined != players || len(did.Faults) > 0 {
		t.Errorf("%+v, expected %d members and no faults", did, players)
	}
	if name == "centrifugo-chat" && did.Answers < players {
		t.Errorf("%d answers to pings of %d clients", did.Answers, players)
	}
}
