// Package push is the k6 module k6/x/push: it plays clients of servers that push. JavaScript says what to run; no JavaScript runs
// per message. See scenarios/ for its use and internal/engine for what it does.
package push

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"

	"go.k6.io/k6/v2/js/common"
	"go.k6.io/k6/v2/js/modules"
	"go.k6.io/k6/v2/lib"

	"github.com/pushbench/pushbench/k6/internal/engine"
	"github.com/pushbench/pushbench/k6/internal/schedule"
)

func init() {
	// Each event loop waits in the kernel with its processor still in hand. Two spare ones let k6, the collector and a returning
	// loop go on at once; without them a loop was seen to wait up to 10 ms for the runtime to hand one back.
	runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + 2)
	modules.Register("k6/x/push", &module{})
}

// module is shared by all VUs of the process, and so is the engine that plays them.
type module struct {
	mu      sync.Mutex
	engine  *engine.Engine
	metrics *pushMetrics
}

type instance struct {
	module *module
	vu     modules.VU
}

func (m *module) NewModuleInstance(vu modules.VU) modules.Instance {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.metrics == nil {
		m.metrics = registerMetrics(vu)
	}
	return &instance{m, vu}
}

func (i *instance) Exports() modules.Exports {
	return modules.Exports{Named: map[string]any{"load": i.load}}
}

// Plan is what `load` takes: where and how to play. The suite's own parameters are only reported.
type Plan struct {
	URL        string            `json:"url"`
	Protocol   string            `json:"protocol"`
	Seed       uint64            `json:"seed"`
	Parameters map[string]any    `json:"parameters"`
	Schedule   schedule.Schedule `json:"schedule"`
}

// Groups says how clients sit together and when they send.
type Groups struct {
	Size    int    `json:"size"`
	Pattern string `json:"pattern"`
}

// GroupsOf is the suite's: it makes groups of the parameters that a stage has.
type GroupsOf func(parameters map[string]any) (groups map[string]any, err error)

// Load is one load as a scenario sees it.
type Load struct {
	instance    *instance
	plan        Plan
	groups      []schedule.Groups // of each stage
	populations []schedule.Population
}

// load checks a plan. It throws what is wrong with it.
func (i *instance) load(plan map[string]any, groups GroupsOf) *Load {
	l := &Load{instance: i}
	if err := l.parse(plan, groups); err != nil {
		common.Throw(i.vu.Runtime(), fmt.Errorf("k6/x/push: %w", err))
	}
	return l
}

func (l *Load) parse(plan map[string]any, groups GroupsOf) (err error) {
	if err := strict(plan, &l.plan); err != nil {
		return fmt.Errorf("plan: %w", err)
	}
	stages := l.plan.Schedule.Stages
	l.groups = make([]schedule.Groups, len(stages))
	for i := range stages {
		if stages[i].Name == "" {
			stages[i].Name = strconv.Itoa(stages[i].Clients)
		}
		if l.groups[i], err = l.groupsOf(stages[i], groups); err != nil {
			return fmt.Errorf("groups of stage %s: %w", stages[i].Name, err)
		}
	}
	l.populations, err = l.plan.Schedule.Populations(l.groups)
	return err
}

// groupsOf asks the suite about the load's parameters, with the stage's own instead of those.
func (l *Load) groupsOf(stage schedule.Stage, groups GroupsOf) (schedule.Groups, error) {
	parameters := map[string]any{}
	maps.Copy(parameters, l.plan.Parameters)
	maps.Copy(parameters, stage.Parameters)
	named, err := groups(parameters)
	if err != nil {
		return schedule.Groups{}, err
	}
	var found Groups
	if err := strict(named, &found); err != nil {
		return schedule.Groups{}, err
	}
	pattern, err := schedule.PatternOf(found.Pattern)
	return schedule.Groups{Size: found.Size, Pattern: pattern}, err
}

// strict converts by way of JSON and refuses unknown names.
func strict(from map[string]any, to any) error {
	text, err := json.Marshal(from)
	if err != nil {
		return err
	}
	decoder := json.NewDecoder(strings.NewReader(string(text)))
	decoder.DisallowUnknownFields()
	return decoder.Decode(to)
}

// Scenario returns the options of a ramping-vus scenario that starts the clients as the schedule says.
func (l *Load) Scenario() map[string]any {
	var stages []map[string]any
	step := func(seconds float64, clients int) {
		stages = append(stages, map[string]any{"duration": schedule.Seconds(seconds).String(), "target": clients})
	}
	warmup, users := l.plan.Schedule.WarmupSeconds, 0
	for number, population := range l.populations {
		for _, stage := range l.plan.Schedule.Stages[population.First : population.Last+1] {
			if number == 0 || stage.Clients > users { // who was of one population comes back in the next one, or waits
				users = stage.Clients
			}
			step(stage.RampSeconds, users)
			step(warmup+stage.SettleSeconds+stage.SteadySeconds, users)
			warmup = 0
		}
	}
	return map[string]any{
		"executor": "ramping-vus", "startVUs": 0, "stages": stages,
		"gracefulRampDown": "0s",
		"gracefulStop":     schedule.Seconds(l.plan.Schedule.DrainSeconds + 10).String(),
	}
}

// Client plays one client of each population until the load is over. Every VU calls it once.
func (l *Load) Client() {
	e, err := l.instance.module.start(l)
	if err != nil {
		common.Throw(l.instance.vu.Runtime(), fmt.Errorf("k6/x/push: %w", err))
	}
	e.Client(l.instance.vu.Context())
}

// Report returns the load report as JSON, or a short text for people.
func (l *Load) Report(format string) string {
	report, err := l.instance.module.report(l.plan.Parameters)
	if err != nil {
		common.Throw(l.instance.vu.Runtime(), fmt.Errorf("k6/x/push: %w", err))
	}
	if format == "text" {
		return text(report)
	}
	encoded, err := json.Marshal(report)
	if err != nil {
		common.Throw(l.instance.vu.Runtime(), fmt.Errorf("k6/x/push: %w", err))
	}
	return string(encoded)
}

// start makes the engine when the first client arrives.
func (m *module) start(l *Load) (*engine.Engine, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.engine != nil {
		return m.engine, nil
	}
	vu := l.instance.vu
	scenario, state := lib.GetScenarioState(vu.Context()), vu.State()
	if scenario == nil || state == nil {
		return nil, fmt.Errorf("a client runs only inside a scenario")
	}
	config := engine.Config{
		URL: l.plan.URL, Protocol: l.plan.Protocol, Seed: l.plan.Seed,
		Schedule: l.plan.Schedule, Groups: l.groups,
		Segment:  state.Options.ExecutionSegment.String(),
		OnSecond: m.metrics.emitter(vu.Context(), state, l.plan.Schedule),
	}
	if err := scale(&config.Schedule, state.Options); err != nil {
		return nil, err
	}
	if fd, err := strconv.Atoi(os.Getenv("PUSH_EVENTS_FD")); err == nil {
		config.Events = os.NewFile(uintptr(fd), "events")
	}
	e, err := engine.New(config)
	if err != nil {
		return nil, err
	}
	e.Start(scenario.StartTime)
	m.engine = e
	return e, nil
}

// scale reduces the stages' clients to those of this execution segment, as k6 does with the VUs.
func scale(s *schedule.Schedule, options lib.Options) error {
	tuple, err := lib.NewExecutionTuple(options.ExecutionSegment, options.ExecutionSegmentSequence)
	if err != nil {
		return err
	}
	stages := make([]schedule.Stage, len(s.Stages))
	for i, stage := range s.Stages {
		stage.Clients = int(tuple.ScaleInt64(int64(stage.Clients)))
		stages[i] = stage
	}
	s.Stages = stages
	return nil
}

func (m *module) report(parameters map[string]any) (*engine.Report, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.engine == nil {
		return nil, fmt.Errorf("no client ran, so there is nothing to report")
	}
	return m.engine.Report(k6Version(), parameters)
}

// k6Version is the version of k6 that this binary was built from.
func k6Version() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, dependency := range info.Deps {
			if dependency.Path == "go.k6.io/k6/v2" {
				return dependency.Version
			}
		}
	}
	return "unknown"
}
