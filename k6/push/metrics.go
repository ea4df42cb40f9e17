package push

import (
	"context"
	"strconv"
	"time"

	"go.k6.io/k6/v2/js/modules"
	"go.k6.io/k6/v2/lib"
	"go.k6.io/k6/v2/metrics"

	"github.com/pushbench/pushbench/k6/internal/engine"
	"github.com/pushbench/pushbench/k6/internal/histogram"
	"github.com/pushbench/pushbench/k6/internal/schedule"
)

// pushMetrics feed k6's outputs once a second, so that dashboards and remote write work. The exact numbers are in the
// load report: k6 keeps every value of a Trend in memory, so latencies come as the quantiles of each second.
type pushMetrics struct {
	clients, latency         *metrics.Metric // gauges; latencies in seconds, tagged with their name and quantile
	messages, receipts, owed *metrics.Metric // counters
}

// quantiles are those reported for every latency, as tags. 1 is the maximum.
var quantiles = []float64{0.5, 0.95, 0.99, 1}

func registerMetrics(vu modules.VU) *pushMetrics {
	environment := vu.InitEnv()
	if environment == nil {
		return nil
	}
	registry := environment.Registry
	return &pushMetrics{
		clients:  registry.MustNewMetric("push_clients", metrics.Gauge),
		latency:  registry.MustNewMetric("push_latency_seconds", metrics.Gauge),
		messages: registry.MustNewMetric("push_exchanges", metrics.Counter),
		receipts: registry.MustNewMetric("push_receipts", metrics.Counter),
		owed:     registry.MustNewMetric("push_receipts_owed", metrics.Counter),
	}
}

// emitter pushes each second into the sample channel of the VU that came first. Every sample has the tags `stage`, the
// stage's name, and `measured`. If several generators share the clients, it also has `segment`, so that their samples
// can be told apart.
func (m *pushMetrics) emitter(ctx context.Context, state *lib.State, plan Plan) func(engine.Second) {
	if m == nil {
		return nil
	}
	current := state.Tags.GetCurrentValues()
	common := current.Tags
	if segment := state.Options.ExecutionSegment.String(); segment != "" && segment != "0:1" {
		common = common.With("segment", segment)
	}
	return func(second engine.Second) {
		now := time.Now()
		stage, measured := stageAt(plan.Schedule, time.Duration(second.Index)*time.Second)
		tags := common.With("stage", stage.Name).With("measured", strconv.FormatBool(measured))
		var samples metrics.Samples
		add := func(metric *metrics.Metric, value float64, tags *metrics.TagSet) {
			series := metrics.TimeSeries{Metric: metric, Tags: tags}
			sample := metrics.Sample{TimeSeries: series, Time: now, Value: value, Metadata: current.Metadata}
			samples = append(samples, sample)
		}
		addLatency := func(kind string, latency *histogram.Histogram) {
			name, named := plan.Latencies[kind]
			if len(plan.Latencies) == 0 {
				name, named = kind, true
			}
			if !named || latency.Count() == 0 {
				return // an empty second has no latency; it is not 0
			}
			own := tags.With("latency", name).With("headline", strconv.FormatBool(kind == plan.Headline))
			for _, q := range quantiles {
				tag := strconv.FormatFloat(q, 'g', -1, 64)
				add(m.latency, latency.Quantile(100*q).Seconds(), own.With("quantile", tag))
			}
		}
		add(m.clients, float64(second.Clients), tags)
		add(m.messages, float64(second.Sent), tags)
		add(m.receipts, float64(second.Received), tags)
		add(m.owed, float64(second.Owed), tags)
		add(state.BuiltinMetrics.DataSent, float64(second.SentBytes), tags)
		add(state.BuiltinMetrics.DataReceived, float64(second.ReceivedBytes), tags)
		for kind, latency := range second.Latencies() {
			addLatency(kind, latency)
		}
		metrics.PushIfNotDone(ctx, state.Samples, samples)
	}
}

// stageAt returns the stage of the load at t, and whether t lies in its steady window. A ramp belongs to the stage that
// it leads to, the drain to the last one.
func stageAt(s schedule.Schedule, t time.Duration) (stage schedule.Stage, measured bool) {
	for i, window := range s.Windows() {
		stage = s.Stages[i]
		if t < window.End {
			return stage, t >= window.Begin
		}
	}
	return stage, false
}
