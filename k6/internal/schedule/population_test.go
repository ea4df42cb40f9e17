package schedule

import (
	"slices"
	"strings"
	"testing"
	"time"
)

var (
	small = Groups{Size: 10, Pattern: Patterns["steady"]}
	large = Groups{Size: 100, Pattern: Patterns["steady"]}
)

// changing is 100 and 300 clients in small groups, then 40 and 140 in large ones.
var changing = Schedule{
	WarmupSeconds: 8,
	Stages:        []Stage{stage(100, 2, 1, 6), stage(300, 2, 1, 6), stage(40, 12, 1, 6), stage(140, 5, 1, 6)},
	DrainSeconds:  10,
}

func TestStagesWhoseClientsSitAlikeAreOnePopulation(t *testing.T) {
	populations, err := changing.Populations([]Groups{small, small, large, large})
	if err != nil || len(populations) != 2 {
		t.Fatalf("%+v, %v", populations, err)
	}
	for i, want := range []Population{
		{Groups: small, First: 0, Last: 1, End: 26 * time.Second},
		{Groups: large, First: 2, Last: 3, End: 57 * time.Second},
	} {
		got := populations[i]
		if !got.Groups.same(want.Groups) || got.First != want.First || got.Last != want.Last || got.End != want.End {
			t.Errorf("population %d: %+v, expected %+v", i, got, want)
		}
	}
}

func TestThoseWhoComeAfterAChangeConnectBehindTheDrain(t *testing.T) {
	populations, err := changing.Populations([]Groups{small, small, large, large})
	if err != nil {
		t.Fatal(err)
	}
	seats := populations[1].Seats()
	for n, want := range map[int]time.Duration{
		0:   36*time.Second + 50*time.Millisecond, // 26 s, the drain, and a fortieth of the rest
		39:  38 * time.Second,                     // the end of the ramp
		40:  45*time.Second + 50*time.Millisecond,
		89:  47*time.Second + 500*time.Millisecond,
		139: 50 * time.Second,
	} {
		if seats[n] != (Seat{want, Never}) {
			t.Errorf("client %d: %v, expected %v", n, seats[n], want)
		}
	}
	if len(seats) != 140 {
		t.Errorf("%d seats, expected 140", len(seats))
	}
}

func TestThoseWhoCameLastLeaveFirstAndWhoComesThenHasASeatOfItsOwn(t *testing.T) {
	s := Schedule{Stages: []Stage{stage(4, 4, 0, 1), stage(2, 2, 0, 1), stage(3, 1, 0, 1)}}
	populations, err := s.Populations([]Groups{small, small, small})
	if err != nil || len(populations) != 1 {
		t.Fatalf("%+v, %v", populations, err)
	}
	want := []Seat{
		{1 * time.Second, Never}, {2 * time.Second, Never}, {3 * time.Second, 7 * time.Second},
		{4 * time.Second, 6 * time.Second},
		{9 * time.Second, Never},
	}
	if got := populations[0].Seats(); !slices.Equal(got, want) {
		t.Errorf("%v, expected %v", got, want)
	}
}

func TestAPatternOfItsOwnIsAChangeToo(t *testing.T) {
	strokes := Groups{Size: 10, Pattern: Patterns["stroke"]}
	populations, err := changing.Populations([]Groups{small, small, strokes, strokes})
	if err != nil || len(populations) != 2 {
		t.Errorf("%+v, %v", populations, err)
	}
}

func TestAChangeThatCannotBePlayedIsRefused(t *testing.T) {
	short := Schedule{Stages: []Stage{stage(10, 1, 1, 1), stage(10, 5, 1, 1)}, DrainSeconds: 5}
	for said, populations := range map[string]func() ([]Population, error){
		"ramp must be longer than the drain": func() ([]Population, error) {
			return short.Populations([]Groups{small, large})
		},
		"group size 0": func() ([]Population, error) { return short.Populations([]Groups{small, {}}) },
		"groups of 1":  func() ([]Population, error) { return short.Populations([]Groups{small}) },
	} {
		if _, err := populations(); err == nil || !strings.Contains(err.Error(), said) {
			t.Errorf("%v, expected %q", err, said)
		}
	}
}
