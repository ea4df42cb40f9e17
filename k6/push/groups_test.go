package push

import (
	"testing"

	"github.com/pushbench/pushbench/k6/internal/schedule"
)

func TestAClosedStageIsClosedWhateverTheScenarioSays(t *testing.T) {
	asked := func(map[string]any) (map[string]any, error) {
		return map[string]any{"rate": 50, "arrivals": "poisson", "query": "pace=50"}, nil
	}
	l := &Load{}
	for _, closed := range []bool{true, false} {
		groups, err := l.groupsOf(schedule.Stage{Clients: 10, Closed: closed}, asked)
		if err != nil {
			t.Fatal(err)
		}
		if groups.Pattern.Closed != closed || (groups.Pattern.Rate == 0) != closed || groups.Query != "pace=50" {
			t.Errorf("closed %t: got %+v", closed, groups)
		}
	}
}

func TestExchangesBesideTheFirstAreInTheOrderOfTheirNames(t *testing.T) {
	asked := func(beside map[string]any) (schedule.Groups, error) {
		return (&Load{}).groupsOf(schedule.Stage{Clients: 10}, func(map[string]any) (map[string]any, error) {
			return map[string]any{"size": 5, "pattern": "steady", "beside": beside}, nil
		})
	}
	groups, err := asked(map[string]any{"b": map[string]any{"pattern": "stroke", "arrivals": "poisson"},
		"a": map[string]any{"pattern": "steady"}})
	if err != nil {
		t.Fatal(err)
	}
	if got := groups.Beside; len(got) != 2 || got[0].Name != "a" || got[1].Name != "b" ||
		got[0].Pattern != schedule.Patterns["steady"] || got[1].Pattern.Arrivals != schedule.Poisson {
		t.Errorf("got %+v", got)
	}
	for pattern, want := range map[string]string{
		"closed": "exchange a: it cannot be closed, for it stands beside another",
		"often":  `exchange a: pattern "often": known are closed, keystrokes, position, simultaneous, sparse, steady, stroke`,
	} {
		if _, err := asked(map[string]any{"a": map[string]any{"pattern": pattern}}); err == nil || err.Error() != want {
			t.Errorf("%v, expected %s", err, want)
		}
	}
}

func TestAnOpenStageNeedsARateOrAPattern(t *testing.T) {
	none := func(map[string]any) (map[string]any, error) { return map[string]any{"rate": 0}, nil }
	if _, err := (&Load{}).groupsOf(schedule.Stage{Clients: 10}, none); err == nil {
		t.Error("a stage in which nothing is due was accepted")
	}
}

func TestAPlanByHandMayLeaveOutNamesAndParameters(t *testing.T) {
	l := &Load{}
	stage := map[string]any{"clients": 10, "ramp_seconds": 1, "settle_seconds": 1, "steady_seconds": 1}
	plan := map[string]any{
		"url": "ws://a", "protocol": "whiteboard-json",
		"schedule": map[string]any{"warmup_seconds": 1, "stages": []any{stage}, "drain_seconds": 1},
	}
	groups := func(map[string]any) (map[string]any, error) { return map[string]any{"pattern": "steady"}, nil }
	if err := l.parse(plan, groups); err != nil {
		t.Fatal(err)
	}
	if found := l.plan.Schedule.Stages[0]; found.Name != "10" || found.Parameters == nil || l.plan.Parameters == nil {
		t.Errorf("the report would have null, which is no document: %+v", l.plan)
	}
}
