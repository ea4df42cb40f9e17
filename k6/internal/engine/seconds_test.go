package engine

import (
	"testing"
	"time"

	"github.com/pushbench/pushbench/k6/internal/scripted"
)

// What OnSecond is told is what dashboards show during the load, so it has to come to the same as the ledger and the report.
func TestTheSecondsAddUpToTheLedgerAndTheReport(t *testing.T) {
	t.Parallel()
	const delay = 5 * time.Millisecond
	server := startScripted(t, scripted.Faults{Delay: delay, DropEvery: 50, After: time.Second})
	e := newEngine(t, server, oneStage)
	var sum Second
	var echoes int64
	e.config.OnSecond = func(second Second) {
		sum.Sent += second.Sent
		sum.Delivered += second.Delivered
		sum.Owed += second.Owed
		sum.SentBytes += second.SentBytes
		sum.ReceivedBytes += second.ReceivedBytes
		sum.Clients = max(sum.Clients, second.Clients)
		echoes += second.Echo.Count()
		if second.Delivery.Count() != second.Delivered {
			t.Errorf("second %d: %d latencies of %d deliveries", second.Index, second.Delivery.Count(), second.Delivered)
		}
		if second.Echo.Count() > 0 && second.Echo.Quantile(50) < delay-delay/500 { // 3 digits
			t.Errorf("second %d: echo p50 %s is below the delay", second.Index, second.Echo.Quantile(50))
		}
	}
	stage := play(t, e, server).Stages[0]
	saw := everything(e)

	if sum.Sent != saw.Sent || sum.Delivered != saw.Delivered || sum.Owed != saw.Expected {
		t.Errorf("sent %d, delivered %d, owed %d; the ledger has %+v", sum.Sent, sum.Delivered, sum.Owed, saw)
	}
	if lost := sum.Owed - sum.Delivered; lost == 0 || lost != server.Counts().Dropped {
		t.Errorf("lost %d, but the server dropped %d", lost, server.Counts().Dropped)
	}
	if echoes == 0 || echoes > sum.Sent || echoes < sum.Sent-server.Counts().Dropped {
		t.Errorf("%d echoes of %d messages", echoes, sum.Sent)
	}
	if sum.Clients != players {
		t.Errorf("at most %d clients, expected %d", sum.Clients, players)
	}
	if sum.SentBytes < stage.Traffic.SentBytes || sum.ReceivedBytes < stage.Traffic.ReceivedBytes || stage.Traffic.SentBytes == 0 {
		t.Errorf("%d bytes sent, %d received; the stage alone had %+v", sum.SentBytes, sum.ReceivedBytes, stage.Traffic)
	}
}
