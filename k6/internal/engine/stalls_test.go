package engine

import (
	"testing"
	"time"

	"github.com/pushbench/pushbench/k6/internal/schedule"
	"github.com/pushbench/pushbench/k6/internal/scripted"
)

// A server of streams stalls at a known time. A client that asks again at once has one stream open then, so it observes
// the stall once: within that stream, or before its first token.

const (
	streaming  = 3
	stallBegin = 500 * time.Millisecond
	tokenPause = 20 * time.Millisecond
)

// stalling makes the server stall at that time for that long. The server pauses three times in a stream, which
// therefore takes 60 ms, even on a busy machine. A pause before every token would not reliably end in time.
func stalling(length time.Duration) scripted.HTTPFaults {
	return scripted.HTTPFaults{
		LateTokenEvery: tokensOfStream / 3, LateToken: tokenPause, StallAt: stallBegin, StallFor: length,
	}
}

// aroundStall returns a window of that many seconds that begins 0.3 s before the stall: five times as long as a stream
// takes.
func aroundStall(steady float64) schedule.Schedule {
	return schedule.Schedule{
		Stages: []schedule.Stage{
			{Clients: streaming, RampSeconds: 0.1, SettleSeconds: 0.1, SteadySeconds: steady},
		},
		DrainSeconds: 0.3,
	}
}

func TestAStallOfStreamsIsOneLongWaitForEachClient(t *testing.T) {
	inEach(t, streams, func(t testing.TB, name string) {
		// The stall begins up to a pause before or after the last token.
		const stall, slack, usual = 300 * time.Millisecond, tokenPause + 10*time.Millisecond, 100 * time.Millisecond
		faults := stalling(stall)
		report, e, did := playRequestsBy(t, aroundStall(0.7), name, schedule.Patterns["closed"], faults)
		stage, all := report.Stages[0], everything(e)
		if all.Sent != did.Streams || all.Received != did.Tokens || all.Received != all.Sent*tokensOfStream ||
			all.Unsent != 0 || e.gauges().Disconnects != 0 {
			t.Errorf("%+v, the server made %+v: a stall loses nothing", all, did)
		}
		gap, first := decode(t, stage.Histograms.Gap), decode(t, stage.Histograms.First)
		last := decode(t, stage.Histograms.Last)
		long, whole := beyond(gap, usual)+beyond(first, usual), beyond(gap, stall-slack)+beyond(first, stall-slack)
		if streams := beyond(last, stall-slack); long != streaming || whole != long || streams != streaming {
			t.Errorf("%d long waits, %d of them for the whole stall, in %d long streams: expected one for each of %d "+
				"clients", long, whole, streams, streaming)
		}
		if longest := max(gap.Max(), first.Max()); longest > (stall + slack).Microseconds() {
			t.Errorf("a wait of %d us, expected %s", longest, stall)
		}
		// One of 71 gaps is a pause.
		short, pause := gap.ValueAtQuantile(98), gap.ValueAtQuantile(99)
		if low, high := tokenPause.Microseconds()/2, tokenPause.Microseconds()*2; short > 3_000 || pause < low ||
			pause > high {
			t.Errorf("gap p98 %d us, p99 %d us, expected none and a pause of %s", short, pause, tokenPause)
		}
	})
}

func TestWhatAStallForEverKeepsIsLostAndHasNoLatency(t *testing.T) {
	t.Parallel()
	const window = 0.6
	for _, name := range streams {
		for pattern, open := range map[string]bool{"closed": false, "steady": true} {
			t.Run(name+", "+pattern, func(t *testing.T) {
				truthTest(t, func(t testing.TB) {
					faults := stalling(time.Hour)
					report, e, did := playRequestsBy(t, aroundStall(window), name, schedule.Patterns[pattern], faults)
					expectLostForEver(t, report.Stages[0], e, did, open)
				})
			})
		}
	}
}

// expectLostForEver compares the report with a server that sent what it counted and no more. Clients ask again at once,
// or each second, so some ask after the server has stopped.
func expectLostForEver(t testing.TB, stage StageReport, e *Engine, did scripted.HTTPCounts, open bool) {
	t.Helper()
	all := everything(e)
	if all.Received != did.Tokens || all.Lost() != all.Due*tokensOfStream-did.Tokens || all.Received == 0 ||
		all.Lost() == 0 {
		t.Errorf("%+v, the server made %+v: what it did not send is lost", all, did)
	}
	gap, first, last := decode(t, stage.Histograms.Gap), decode(t, stage.Histograms.First), decode(t,
		stage.Histograms.Last)
	if received := gap.TotalCount() + first.TotalCount(); received != stage.Receipts.Received {
		t.Errorf("%d latencies of %d tokens", received, stage.Receipts.Received)
	}
	if longest := max(gap.Max(), first.Max()); longest > 100_000 {
		t.Errorf("a wait of %d us for a token that never came", longest)
	}
	if ended := stage.Messages.Sent - last.TotalCount(); !open && ended != streaming {
		t.Errorf("%d streams did not end, expected one of each of %d clients", ended, streaming)
	}
	if clients := stage.Clients; clients.Members != streaming || clients.Disconnects != 0 {
		t.Errorf("%+v: the server ended no connection", clients)
	}
}
