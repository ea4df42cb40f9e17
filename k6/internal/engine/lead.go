package engine

import "time"

const (
	// leadStep is how far one wake-up moves the lead: it converges within some hundred wake-ups.
	leadStep = 2 * time.Microsecond
	// leadLimit bounds the time that a loop may spin after it woke up too early.
	leadLimit = 150 * time.Microsecond
)

// lead is how long before a due time the timer is set. A sleeping processor takes some 50 to 100 microseconds to wake
// up. The lead is the median of the recent delays: steps of equal size up and down converge there.
type lead time.Duration

// learn adjusts the lead by the delay between the time that the timer was set to and the wake-up.
func (l *lead) learn(delay time.Duration) {
	step := lead(leadStep)
	if delay < time.Duration(*l) {
		step = -step
	}
	*l = min(max(*l+step, 0), lead(leadLimit))
}
