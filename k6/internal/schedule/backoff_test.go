package schedule

import (
	"testing"
	"time"
)

func TestPausesGrowToTheirCapAndFillTheirRange(t *testing.T) {
	b := Backoff{Base: time.Second, Cap: 5 * time.Second}
	for attempt, most := range []time.Duration{1, 2, 4, 5, 5} {
		most *= time.Second
		const clients = 4000
		var sum, longest time.Duration
		shortest := Never
		for client := range uint64(clients) {
			pause := b.Pause(7, client, attempt)
			sum, longest, shortest = sum+pause, max(longest, pause), min(shortest, pause)
		}
		if shortest < 0 || longest > most {
			t.Errorf("attempt %d: pauses of %s to %s, expected at most %s", attempt, shortest, longest, most)
		}
		if shortest > most/100 || longest < most-most/100 {
			t.Errorf("attempt %d: pauses of %s to %s do not fill 0 to %s", attempt, shortest, longest, most)
		}
		if mean := sum / clients; mean < most*48/100 || mean > most*52/100 {
			t.Errorf("attempt %d: mean pause %s, expected half of %s", attempt, mean, most)
		}
	}
}

func TestAPauseIsBoundedAfterAnyNumberOfAttempts(t *testing.T) {
	b := Backoff{Base: time.Second, Cap: 5 * time.Second}
	for _, attempt := range []int{0, 10, 64, 1_000_000_000} {
		if pause := b.Pause(7, 1, attempt); pause < 0 || pause > b.Cap {
			t.Errorf("attempt %d: %s", attempt, pause)
		}
	}
}

func TestPausesFollowFromTheSeed(t *testing.T) {
	b := Reconnecting
	pause := b.Pause(7, 1, 0)
	if again := b.Pause(7, 1, 0); again != pause {
		t.Errorf("the same seed gives %s, and then %s", pause, again)
	}
	for name, other := range map[string]time.Duration{
		"seed": b.Pause(8, 1, 0), "client": b.Pause(7, 2, 0), "attempt": b.Pause(7, 1, 1),
	} {
		if other == pause {
			t.Errorf("another %s gives the same pause", name)
		}
	}
}
