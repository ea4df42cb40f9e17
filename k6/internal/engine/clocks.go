package engine

import (
	"time"

	"github.com/pushbench/pushbench/k6/internal/clock"
)

// comparePeriod is the time between two comparisons: the clocks of machines drift apart by some 10 ms in a quarter of
// an hour.
const comparePeriod = 10 * time.Second

// compareClocks announces how far each meter's clock is ahead of this machine's, at once and then periodically until
// the load is over.
func (e *Engine) compareClocks() {
	for _, address := range e.config.Meters {
		go func() {
			for {
				e.collector.announce(compared(address))
				select {
				case <-e.finished:
					return
				case <-time.After(comparePeriod):
				}
			}
		}()
	}
}

func compared(address string) map[string]any {
	event := map[string]any{"at": clock.Monotonic(), "event": "clock", "meter": address}
	found, err := clock.Compare(address)
	if err != nil {
		event["error"] = err.Error()
		return event
	}
	event["at"], event["ahead_us"], event["within_us"] = found.At, found.Ahead, found.Within
	return event
}
