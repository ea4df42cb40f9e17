package schedule

import (
	"math"
	"testing"
	"time"
)

// dues returns the due times of a member's messages in the window.
func dues(p Pattern, seed uint64, group, member int, window Window) []time.Duration {
	var found []time.Duration
	s := p.Sequence(seed, group, member)
	for s.SkipTo(window.Begin); s.Due() < window.End; s.Advance() {
		found = append(found, s.Due())
	}
	return found
}

func with(name string, arrivals Arrivals) Pattern {
	p := Patterns[name]
	p.Arrivals = arrivals
	return p
}

func TestEveryWindowOfWholePeriodsHasTheSameNumberOfMessages(t *testing.T) {
	for name := range Patterns {
		for _, arrivals := range []Arrivals{Fixed, Bursty} {
			for member := range 50 {
				p := with(name, arrivals)
				window := Window{40 * time.Second, 40*time.Second + 3*p.Period}
				if n := len(dues(p, 1, 3, member, window)); n != 3*p.Count {
					t.Errorf("%s, %d, member %d: %d messages in three periods, expected %d", name, arrivals, member, n, 3*p.Count)
				}
			}
		}
	}
}

func TestSkippingLeavesOutJustWhatIsOver(t *testing.T) {
	for name := range Patterns {
		for _, arrivals := range []Arrivals{Fixed, Poisson, Bursty} {
			p := with(name, arrivals)
			all := dues(p, 9, 0, 4, Window{0, 200 * time.Second})
			for at := time.Duration(0); at < 45*time.Second; at += 370 * time.Millisecond {
				s := p.Sequence(9, 0, 4)
				s.SkipTo(at)
				var want time.Duration
				for _, due := range all {
					if due >= at {
						want = due
						break
					}
				}
				if s.Due() != want {
					t.Fatalf("%s, %d at %v: due at %v, expected %v", name, arrivals, at, s.Due(), want)
				}
			}
		}
	}
}

func TestMessagesAreDueInOrderWhateverTheArrivals(t *testing.T) {
	for name := range Patterns {
		for _, arrivals := range []Arrivals{Fixed, Poisson, Bursty} {
			p := with(name, arrivals)
			s := p.Sequence(4, 1, 2)
			for range 1000 {
				before := s.Due()
				if s.Advance(); s.Due() < before {
					t.Fatalf("%s, %d: %v after %v", name, arrivals, s.Due(), before)
				}
			}
		}
	}
}

func TestPhasesAreSpreadOverThePeriodAndSharedOnlyWhereTheyShouldBe(t *testing.T) {
	steady, together := Patterns["steady"], Patterns["simultaneous"]
	var tenths [10]int
	for client := range 1000 {
		s := steady.Sequence(5, client/10, client%10)
		tenths[s.Due()*10/time.Second]++
		one, other := together.Sequence(5, client/10, client%10), together.Sequence(5, client/10, 0)
		if one.Due() != other.Due() {
			t.Error("members of a group must send together")
		}
	}
	for i, n := range tenths {
		if n < 60 || n > 140 { // 100 expected, standard deviation 9.5
			t.Errorf("tenth %d of the period has %d of 1000 phases", i, n)
		}
	}
	one, other := steady.Sequence(5, 0, 0), steady.Sequence(6, 0, 0)
	if one.Due() == other.Due() {
		t.Error("another seed must give other phases")
	}
}

func TestBurstyMessagesAreDueInTheFirstFifthOfEachPeriod(t *testing.T) {
	p := with("steady", Bursty)
	last := time.Duration(0)
	for member := range 1000 {
		for _, due := range dues(p, 3, 0, member, Window{10 * time.Second, 13 * time.Second}) {
			last = max(last, due%time.Second)
		}
	}
	if last >= 200*time.Millisecond || last < 190*time.Millisecond {
		t.Errorf("the last message of a period is due after %v, expected just below 200 ms", last)
	}
}

// In a Poisson process the mean number of events in a window equals its variance, and gaps are exponential.
func TestPoissonArrivalsAreAPoissonProcessOfTheSameMeanRate(t *testing.T) {
	p := with("steady", Poisson)
	const clients, seconds = 2000, 20
	perSecond := make([]float64, seconds)
	var gaps, gaps2, n float64
	for member := range clients {
		all := dues(p, 7, member/10, member%10, Window{10 * time.Second, (10 + seconds) * time.Second})
		for i, due := range all {
			perSecond[int(due/time.Second)-10]++
			if i > 0 {
				gap := (due - all[i-1]).Seconds()
				gaps, gaps2, n = gaps+gap, gaps2+gap*gap, n+1
			}
		}
	}
	var sum, squares float64
	for _, count := range perSecond {
		sum += count
		squares += (count - clients) * (count - clients)
	}
	if mean := sum / seconds; math.Abs(mean-clients) > 5*math.Sqrt(clients/seconds) {
		t.Errorf("%.0f messages a second, expected %d", mean, clients)
	}
	if spread := squares / seconds / clients; spread < 0.3 || spread > 2.2 { // chi-square with 20 degrees: 0.1 % outside
		t.Errorf("the variance is %.2f of the mean, expected about 1", spread)
	}
	if variation := math.Sqrt(gaps2/n-(gaps/n)*(gaps/n)) / (gaps / n); variation < 0.9 || variation > 1.05 {
		t.Errorf("the gaps have a coefficient of variation of %.2f, expected 1", variation)
	}
}

func TestPoissonStrokesDoNotOverlapAndKeepTheirMeanRate(t *testing.T) {
	p := with("stroke", Poisson)
	var messages int
	for member := range 500 {
		all := dues(p, 2, 0, member, Window{100 * time.Second, 300 * time.Second})
		messages += len(all)
		for i := 1; i < len(all); i++ {
			if gap := all[i] - all[i-1]; gap < time.Second/60-2*time.Microsecond {
				t.Fatalf("member %d: two points %v apart", member, gap)
			}
		}
	}
	if want := 500 * 600; math.Abs(float64(messages-want)) > 0.03*float64(want) { // 3 messages a second per client
		t.Errorf("%d messages, expected about %d", messages, want)
	}
}

func TestUnknownPatternsAndArrivalsAreRefused(t *testing.T) {
	for _, names := range [][2]string{{"wavy", "fixed"}, {"steady", "wavy"}} {
		if _, err := PatternOf(names[0], names[1], 0); err == nil {
			t.Errorf("%v: accepted", names)
		}
	}
	if p, err := PatternOf("steady", "", 0); err != nil || p.Arrivals != Fixed {
		t.Errorf("%v, %v: expected fixed", p, err)
	}
}
