package engine

import (
	"math/rand/v2"
	"testing"
	"time"
)

func TestLeadIsTheMedianDelay(t *testing.T) {
	var found lead
	random := rand.New(rand.NewPCG(1, 1))
	for range 1000 {
		// Occasionally the loop gets no processor at all. That must not move the lead more than any other delay.
		delay := 60*time.Microsecond + time.Duration(random.NormFloat64()*float64(10*time.Microsecond))
		if random.IntN(20) == 0 {
			delay = 5 * time.Millisecond
		}
		found.learn(delay)
	}
	if d := time.Duration(found); d < 50*time.Microsecond || d > 75*time.Microsecond {
		t.Errorf("lead %s, the median delay is 61 us", d)
	}
}

func TestLeadIsBounded(t *testing.T) {
	var found lead
	for range 1000 {
		found.learn(time.Second)
	}
	if time.Duration(found) != leadLimit {
		t.Errorf("lead %s after delays of a second, the limit is %s", time.Duration(found), leadLimit)
	}
	for range 1000 {
		found.learn(-time.Microsecond)
	}
	if found != 0 {
		t.Errorf("lead %s after timers without delay", time.Duration(found))
	}
}
