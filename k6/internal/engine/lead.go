package engine

import "time"

const (
	// leadStep is how far one wake-up moves the lead: some hundred wake-ups find it.
	leadStep = 2 * time.Microsecond
	// leadLimit bounds the time that a loop may spin after a wake-up that came too early.
	leadLimit = 150 * time.Microsecond
)

// lead is how long before something is due the timer is set. A sleeping processor takes some 50 to 100 microseconds to
// wake up, and the lead is the median of what it took lately: steps of equal size up and down end there.
type lead time.Duration

// learn takes how long after the time that it was set to the timer woke the loop.
func (l *lead) learn(delay time.Duration) {
	step := lead(leadStep)
	if delay < time.Duration(*l) {
		step = -step
	}
	*l = min(max(*l+step, 0), lead(leadLimit))
}
