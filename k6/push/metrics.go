package push

import (
	"context"
	"time"

	"go.k6.io/k6/js/modules"
	"go.k6.io/k6/lib"
	"go.k6.io/k6/metrics"

	"github.com/pushbench/pushbench/k6/internal/engine"
)

// pushMetrics feed k6's outputs once a second, so that dashboards and remote write work. The exact numbers are in the load report:
// k6 keeps every value of a Trend in memory, so latencies come as the quantiles of each second.
type pushMetrics struct {
	clients, p50, p95, p99, longest *metrics.Metric // gauges
	sent, delivered                 *metrics.Metric // counters
}

func registerMetrics(vu modules.VU) *pushMetrics {
	environment := vu.InitEnv()
	if environment == nil {
		return nil
	}
	gauge := func(name string, unit ...metrics.ValueType) *metrics.Metric {
		return environment.Registry.MustNewMetric(name, metrics.Gauge, unit...)
	}
	counter := func(name string) *metrics.Metric {
		return environment.Registry.MustNewMetric(name, metrics.Counter)
	}
	return &pushMetrics{
		clients:   gauge("push_clients"),
		p50:       gauge("push_delivery_p50", metrics.Time),
		p95:       gauge("push_delivery_p95", metrics.Time),
		p99:       gauge("push_delivery_p99", metrics.Time),
		longest:   gauge("push_delivery_max", metrics.Time),
		sent:      counter("push_messages_sent"),
		delivered: counter("push_deliveries"),
	}
}

// emitter pushes each second into the sample channel of the VU that came first.
func (m *pushMetrics) emitter(ctx context.Context, state *lib.State) func(engine.Second) {
	if m == nil {
		return nil
	}
	tags := state.Tags.GetCurrentValues()
	return func(second engine.Second) {
		now := time.Now()
		sample := func(metric *metrics.Metric, value float64) metrics.Sample {
			return metrics.Sample{
				TimeSeries: metrics.TimeSeries{Metric: metric, Tags: tags.Tags}, Time: now, Value: value, Metadata: tags.Metadata,
			}
		}
		samples := metrics.Samples{
			sample(m.clients, float64(second.Clients)),
			sample(m.sent, float64(second.Sent)),
			sample(m.delivered, float64(second.Delivered)),
		}
		if second.Delivered > 0 {
			samples = append(samples,
				sample(m.p50, metrics.D(second.Delivery.Quantile(50))),
				sample(m.p95, metrics.D(second.Delivery.Quantile(95))),
				sample(m.p99, metrics.D(second.Delivery.Quantile(99))),
				sample(m.longest, metrics.D(second.Delivery.Max())),
			)
		}
		metrics.PushIfNotDone(ctx, state.Samples, samples)
	}
}
