package schedule

import "time"

// Backoff says how long a client pauses before it connects again: exponential back-off with full jitter, as the AWS
// Architecture Blog describes it in "Exponential Backoff And Jitter". Before attempt n, from 0, the pause is uniform
// between nothing and Base * 2^n, or Cap where that is less.
type Backoff struct {
	Base, Cap time.Duration
}

// Reconnecting has the bounds of Socket.IO's client by default: reconnectionDelay and reconnectionDelayMax.
var Reconnecting = Backoff{Base: time.Second, Cap: 5 * time.Second}

// Most is the longest pause before that attempt.
func (b Backoff) Most(attempt int) time.Duration {
	most := b.Base
	for range attempt {
		if most >= b.Cap {
			break
		}
		most *= 2
	}
	return min(most, b.Cap)
}

// Pause is the pause before that attempt. It follows from the seed and the key alone, so a load can be played again.
func (b Backoff) Pause(seed, key uint64, attempt int) time.Duration {
	drawn := splitmix(splitmix(seed^key) ^ uint64(attempt))
	return time.Duration(drawn % uint64(b.Most(attempt)+1))
}
