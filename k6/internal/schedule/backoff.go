package schedule

import "time"

// Backoff defines how long a client pauses before it reconnects: exponential back-off with full jitter, as the AWS
// Architecture Blog describes it in "Exponential Backoff And Jitter". Before attempt n, from 0, the pause is uniform
// between 0 and the smaller of Base * 2^n and Cap.
type Backoff struct {
	Base, Cap time.Duration
}

// Reconnecting has the default bounds of Socket.IO's client: reconnectionDelay and reconnectionDelayMax.
var Reconnecting = Backoff{Base: time.Second, Cap: 5 * time.Second}

// Most returns the longest pause before that attempt.
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

// Pause returns the pause before that attempt. It depends only on the seed and the key, so a load can be replayed.
func (b Backoff) Pause(seed, key uint64, attempt int) time.Duration {
	drawn := splitmix(splitmix(seed^key) ^ uint64(attempt))
	return time.Duration(drawn % uint64(b.Most(attempt)+1))
}
