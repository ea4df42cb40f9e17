package push

import (
	"context"
	"testing"
	"time"

	"go.k6.io/k6/v2/lib"
	"go.k6.io/k6/v2/metrics"

	"github.com/pushbench/pushbench/k6/internal/engine"
	"github.com/pushbench/pushbench/k6/internal/histogram"
	"github.com/pushbench/pushbench/k6/internal/schedule"
)

var twoStages = schedule.Schedule{
	WarmupSeconds: 2,
	Stages: []schedule.Stage{
		{Name: "100", Clients: 100, RampSeconds: 1, SettleSeconds: 1, SteadySeconds: 3},
		{Name: "classroom-300", Clients: 300, RampSeconds: 1, SettleSeconds: 1, SteadySeconds: 3},
	},
}

func TestARampBelongsToItsStageAndIsNotMeasured(t *testing.T) {
	for second, want := range map[int]struct {
		clients  int
		measured bool
	}{
		0: {100, false}, 3: {100, false}, 4: {100, true}, 6: {100, true},
		7: {300, false}, 8: {300, false}, 9: {300, true}, 11: {300, true},
		12: {300, false}, 20: {300, false},
	} {
		stage, measured := stageAt(twoStages, time.Duration(second)*time.Second)
		if stage.Clients != want.clients || measured != want.measured {
			t.Errorf("second %d: %d clients, measured %t; expected %+v", second, stage.Clients, measured, want)
		}
	}
}

func emitted(t *testing.T, options lib.Options, second engine.Second) map[string]float64 {
	t.Helper()
	registry := metrics.NewRegistry()
	gauge := func(name string) *metrics.Metric { return registry.MustNewMetric(name, metrics.Gauge) }
	m := &pushMetrics{
		clients: gauge("clients"), latency: gauge("latency"),
		messages: gauge("messages"), receipts: gauge("receipts"), owed: gauge("owed"),
	}
	samples := make(chan metrics.SampleContainer, 1)
	state := &lib.State{
		Options: options, Samples: samples, BuiltinMetrics: metrics.RegisterBuiltinMetrics(registry),
		Tags: lib.NewVUStateTags(registry.RootTagSet().With("server", "node-ws")),
	}
	plan := Plan{Schedule: twoStages, Latencies: map[string]string{"own": "echo", "each": "delivery"}, Headline: "each"}
	m.emitter(context.Background(), state, plan)(second)
	found := map[string]float64{}
	for _, sample := range (<-samples).GetSamples() {
		name := sample.Metric.Name
		for _, tag := range []string{"server", "stage", "measured", "latency", "headline", "quantile", "segment"} {
			if value, ok := sample.Tags.Get(tag); ok {
				name += " " + value
			}
		}
		found[name] = sample.Value
	}
	return found
}

func TestASecondBecomesCountsAndQuantilesOfItsStage(t *testing.T) {
	latencies := histogram.New()
	for ms := range 100 {
		latencies.Record(time.Duration(ms+1) * time.Millisecond)
	}
	second := engine.Second{
		Index: 9, Clients: 290, Sent: 280, Received: 2700, Owed: 2800,
		Traffic: engine.Traffic{SentBytes: 70_000, ReceivedBytes: 700_000},
		Own:     latencies, Each: histogram.New(),
	}
	found := emitted(t, lib.Options{}, second)
	want := map[string]float64{
		"clients node-ws classroom-300 true":                 290,
		"messages node-ws classroom-300 true":                280,
		"receipts node-ws classroom-300 true":                2700,
		"owed node-ws classroom-300 true":                    2800,
		"data_sent node-ws classroom-300 true":               70_000,
		"data_received node-ws classroom-300 true":           700_000,
		"latency node-ws classroom-300 true echo false 0.5":  0.050,
		"latency node-ws classroom-300 true echo false 0.95": 0.095,
		"latency node-ws classroom-300 true echo false 0.99": 0.099,
		"latency node-ws classroom-300 true echo false 1":    0.100,
	}
	if len(found) != len(want) {
		t.Errorf("%d samples, expected %d: nothing of a latency that nobody had: %v", len(found), len(want), found)
	}
	for name, value := range want {
		if got, ok := found[name]; !ok || got < value*0.999 || got > value*1.001 {
			t.Errorf("%s is %g (there: %t), expected %g", name, got, ok, value)
		}
	}
}

func TestGeneratorsThatShareTheClientsAreToldApart(t *testing.T) {
	segment, err := lib.NewExecutionSegmentFromString("1/2:1")
	if err != nil {
		t.Fatal(err)
	}
	empty := engine.Second{Clients: 5, Own: histogram.New(), Each: histogram.New()}
	found := emitted(t, lib.Options{ExecutionSegment: segment}, empty)
	if found["clients node-ws 100 false 1/2:1"] != 5 {
		t.Errorf("no sample of the segment: %v", found)
	}
}
