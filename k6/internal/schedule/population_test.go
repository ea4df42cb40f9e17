package schedule

import (
	"strings"
	"testing"
	"time"
)

var (
	small = Groups{10, Patterns["steady"]}
	large = Groups{100, Patterns["steady"]}
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
		if got.Groups != want.Groups || got.First != want.First || got.Last != want.Last || got.End != want.End {
			t.Errorf("population %d: %+v, expected %+v", i, got, want)
		}
	}
}

func TestThoseWhoComeAfterAChangeConnectBehindTheDrain(t *testing.T) {
	populations, err := changing.Populations([]Groups{small, small, large, large})
	if err != nil {
		t.Fatal(err)
	}
	for n, want := range map[int]time.Duration{
		0:   36*time.Second + 50*time.Millisecond, // 26 s, the drain, and a fortieth of the rest
		39:  38 * time.Second,                     // the end of the ramp
		40:  45*time.Second + 50*time.Millisecond,
		89:  47*time.Second + 500*time.Millisecond,
		139: 50 * time.Second,
	} {
		if at, comes := populations[1].Arrival(n); !comes || at != want {
			t.Errorf("client %d: %v (%v), expected %v", n, at, comes, want)
		}
	}
	if _, comes := populations[1].Arrival(140); comes {
		t.Error("there is no client 140")
	}
}

func TestAPatternOfItsOwnIsAChangeToo(t *testing.T) {
	populations, err := changing.Populations([]Groups{small, small, {10, Patterns["stroke"]}, {10, Patterns["stroke"]}})
	if err != nil || len(populations) != 2 {
		t.Errorf("%+v, %v", populations, err)
	}
}

func TestAChangeThatCannotBePlayedIsRefused(t *testing.T) {
	short := Schedule{Stages: []Stage{stage(10, 1, 1, 1), stage(10, 5, 1, 1)}, DrainSeconds: 5}
	fewer := changing
	fewer.Stages = append(append([]Stage(nil), changing.Stages...), stage(50, 1, 1, 1))
	for said, populations := range map[string]func() ([]Population, error){
		"ramp must be longer than the drain": func() ([]Population, error) { return short.Populations([]Groups{small, large}) },
		"may become fewer": func() ([]Population, error) {
			return fewer.Populations([]Groups{small, small, large, large, large})
		},
		"group size 0": func() ([]Population, error) { return short.Populations([]Groups{small, {}}) },
		"groups of 1":  func() ([]Population, error) { return short.Populations([]Groups{small}) },
	} {
		if _, err := populations(); err == nil || !strings.Contains(err.Error(), said) {
			t.Errorf("%v, expected %q", err, said)
		}
	}
}
