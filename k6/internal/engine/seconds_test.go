package engine

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/pushbench/pushbench/k6/internal/schedule"
	"github.com/pushbench/pushbench/k6/internal/scripted"
)

// Dashboards show what OnSecond receives during the load, so it has to agree with the ledger and the report.
func TestTheSecondsAddUpToTheLedgerAndTheReport(t *testing.T) {
	truthTest(t, func(t testing.TB) {
		const delay = 5 * time.Millisecond
		server := startScripted(t, scripted.Faults{Delay: delay, DropEvery: 50, After: time.Second})
		e := newEngine(t, server, oneStage)
		var events bytes.Buffer
		e.config.Events = &events
		e.config.Limits = []Limit{{"each", delay.Microseconds() / 2}, {"own", time.Hour.Microseconds()}, {"gap", 0}}
		var all Second
		var echoes int64
		var tails []int64
		e.config.OnSecond = func(second Second) {
			tails = append(tails, second.Each.Quantile(95).Microseconds())
			all.Sent += second.Sent
			all.Received += second.Received
			all.Owed += second.Owed
			all.Traffic.add(second.Traffic)
			all.Clients = max(all.Clients, second.Clients)
			echoes += second.Own.Count()
			if second.Each.Count() != second.Received {
				t.Errorf("second %d: %d latencies of %d receipts", second.Index, second.Each.Count(),
					second.Received)
			}
			if second.Own.Count() > 0 && second.Own.Quantile(50) < delay-delay/500 { // histograms keep 3 digits
				t.Errorf("second %d: echo p50 %s is below the delay", second.Index, second.Own.Quantile(50))
			}
		}
		timeline := play(t, e, server).Timeline
		saw := everything(e)
		expectToldSeconds(t, bytes.NewReader(events.Bytes()), saw.Expected, tails)
		exceeded := toldExceeded(t, &events, 3)
		if want := []Exceeded{{all.Received, all.Received}, {0, echoes}, {}}; !slices.Equal(exceeded, want) {
			t.Errorf("%v exceeded their limits, expected %v", exceeded, want)
		}

		if all.Sent != saw.Sent || all.Received != saw.Received || all.Owed != saw.Expected {
			t.Errorf("sent %d, received %d, owed %d; the ledger has %+v", all.Sent, all.Received, all.Owed, saw)
		}
		if lost := all.Owed - all.Received; lost == 0 || lost != server.Counts().Dropped {
			t.Errorf("lost %d, but the server dropped %d", lost, server.Counts().Dropped)
		}
		if echoes == 0 || echoes > all.Sent || echoes < all.Sent-server.Counts().Dropped {
			t.Errorf("%d echoes of %d messages", echoes, all.Sent)
		}
		if all.Clients != players {
			t.Errorf("at most %d clients, expected %d", all.Clients, players)
		}
		if want := (Traffic{sum(timeline.SentBytes), sum(timeline.ReceivedBytes)}); all.Traffic != want ||
			want.SentBytes == 0 {
			t.Errorf("%+v, but the report has %+v", all.Traffic, want)
		}
	})
}

func TestTheSecondsCountTheGapsOfStreams(t *testing.T) {
	truthTest(t, func(t testing.TB) {
		server, err := scripted.StartHTTP("127.0.0.1:0", scripted.HTTPFaults{Gap: 3 * time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(server.Close)
		var events bytes.Buffer
		e, err := New(Config{
			URL: server.URL(), Protocol: streams[0], Seed: 7, Schedule: twoSeconds(5), Loops: 2,
			Groups: []schedule.Groups{{Size: 1, Pattern: schedule.Patterns["closed"]}}, Events: &events,
			Limits: []Limit{{"gap", 0}, {"gap", time.Minute.Microseconds()}, {"first", 0}},
		})
		if err != nil {
			t.Fatal(err)
		}
		origin := time.Now()
		server.Arm(origin)
		e.Play(context.Background(), origin)
		did := server.Counts()
		gaps := did.Tokens - did.Streams
		exceeded := toldExceeded(t, &events, 3)
		if want := []Exceeded{{gaps, gaps}, {0, gaps}, {did.Streams, did.Streams}}; !slices.Equal(exceeded, want) {
			t.Errorf("%v exceeded their limits, expected %v", exceeded, want)
		}
	})
}

// expectToldSeconds compares the events of the seconds with what was owed, and with the p95 of the headline in each
// second. 0 stands for a second without a p95, whose event has none.
func expectToldSeconds(t testing.TB, events io.Reader, owed int64, tails []int64) {
	t.Helper()
	lines := bufio.NewScanner(events)
	var told, used int64
	var found []int64
	for lines.Scan() {
		event := struct {
			Event string
			Owed  int64
			CPU   int64  `json:"cpu_us"`
			P95   *int64 `json:"p95_us"`
		}{}
		if err := json.Unmarshal(lines.Bytes(), &event); err != nil {
			t.Fatal(err)
		}
		if event.Event != "second" {
			continue
		}
		told += event.Owed
		if event.CPU < used {
			t.Errorf("%d µs of CPU after %d", event.CPU, used)
		}
		used = event.CPU
		tail := int64(0)
		if event.P95 != nil {
			if tail = *event.P95; tail == 0 {
				t.Errorf("a second without a latency has a p95 of 0: %s", lines.Bytes())
			}
		}
		found = append(found, tail)
	}
	if used == 0 {
		t.Error("a load without CPU")
	}
	if told != owed || !slices.Equal(found, tails) {
		t.Errorf("told of %d owed and p95 %v; expected %d and %v", told, found, owed, tails)
	}
}

// toldExceeded returns the sums over the events of the seconds.
func toldExceeded(t testing.TB, events io.Reader, limits int) []Exceeded {
	t.Helper()
	sums := make([]Exceeded, limits)
	for lines := bufio.NewScanner(events); lines.Scan(); {
		event := struct{ Exceeded []Exceeded }{}
		if err := json.Unmarshal(lines.Bytes(), &event); err != nil {
			t.Fatal(err)
		}
		for i, counts := range event.Exceeded {
			sums[i].Late += counts.Late
			sums[i].Of += counts.Of
		}
	}
	return sums
}

// expectSecondsToAddUp compares the timeline with the whole load, and with every stage whose steady window is whole
// seconds.
func expectSecondsToAddUp(t testing.TB, e *Engine, report *Report) {
	t.Helper()
	timeline := report.Timeline
	if saw := everything(e); sum(timeline.Expected) != saw.Expected || sum(timeline.Lost) != saw.Lost() {
		t.Errorf("expected %v, lost %v by the second; the ledger has %+v", timeline.Expected, timeline.Lost, saw)
	}
	if len(timeline.Lost) != len(timeline.Sent) || len(timeline.SentBytes) != len(timeline.Sent) {
		t.Errorf("columns differ in length: %+v", timeline)
	}
	for i, stage := range report.Stages {
		window := e.windows[i]
		begin, end := window.Begin/time.Second, window.End/time.Second
		if window.Begin%time.Second != 0 || window.End%time.Second != 0 {
			continue
		}
		lost, expected := sum(timeline.Lost[begin:end]), sum(timeline.Expected[begin:end])
		if o := stage.Outage; o != nil {
			lost, expected = lost-o.Receipts.Lost, expected-o.Receipts.Expected
		}
		if lost != stage.Receipts.Lost || expected != stage.Receipts.Expected {
			t.Errorf("stage %d: the seconds lost %d of %d, the stage %+v", i, lost, expected, stage.Receipts)
		}
		if arrived := sum(timeline.Received[begin:end]); arrived != stage.Arrived {
			t.Errorf("stage %d: %d arrived by the second, the stage says %d", i, arrived, stage.Arrived)
		}
		traffic := Traffic{sum(timeline.SentBytes[begin:end]), sum(timeline.ReceivedBytes[begin:end])}
		if traffic != stage.Traffic || traffic.SentBytes == 0 {
			t.Errorf("stage %d: the seconds carried %+v, the stage %+v", i, traffic, stage.Traffic)
		}
	}
}

func sum(column []int64) int64 {
	var sum int64
	for _, value := range column {
		sum += value
	}
	return sum
}

func TestALossIsShownWhereTheMessageWasDueNotWhereItWasMissed(t *testing.T) {
	truthTest(t, func(t testing.TB) {
		// Due from 2.4 to 2.8 s, dropped 600 ms later.
		const delay, after, until = 600 * time.Millisecond, 3000 * time.Millisecond, 3400 * time.Millisecond
		server := startScripted(t, scripted.Faults{Delay: delay, DropEvery: 3, After: after, Until: until})
		report := play(t, newEngine(t, server, oneStage), server)
		dropped := server.Counts().Dropped
		if lost := report.Timeline.Lost; dropped == 0 || lost[2] != dropped || sum(lost) != dropped {
			t.Errorf("lost %v by the second, expected all %d in the third", lost, dropped)
		}
	})
}

func TestAWindowThatBeginsInsideASecondHasTheTrafficOfItsPart(t *testing.T) {
	truthTest(t, func(t testing.TB) {
		server := startScripted(t, scripted.Faults{})
		report := play(t, newEngine(t, server, oneStage), server) // 1.5 to 4.5 s
		stage, timeline := report.Stages[0], report.Timeline
		size := float64(sum(timeline.ReceivedBytes[2:4])) / float64(sum(timeline.Received[2:4])) // of a delivery
		want := float64(stage.Receipts.Received) * size
		if got := float64(stage.Traffic.ReceivedBytes); math.Abs(got-want) > 0.05*want {
			t.Errorf("%.0f bytes received, expected about %.0f", got, want)
		}
	})
}
