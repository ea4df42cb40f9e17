// Package push is the k6 module k6/x/push: it plays clients of servers that push. JavaScript defines what to run; no
// JavaScript runs per message. See scenarios/ for its use and internal/engine for its implementation.
package push

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/netip"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"go.k6.io/k6/v2/js/common"
	"go.k6.io/k6/v2/js/modules"
	"go.k6.io/k6/v2/lib"

	"github.com/pushbench/pushbench/k6/internal/declared"
	"github.com/pushbench/pushbench/k6/internal/engine"
	"github.com/pushbench/pushbench/k6/internal/schedule"
)

func init() {
	// Each event loop blocks in the kernel while it holds its processor. Two spare processors let k6, the collector and a
	// returning loop continue at once. Without them a loop was observed to wait up to 10 ms for the runtime to hand one
	// back.
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
	return modules.Exports{Named: map[string]any{"load": i.load, "converse": i.converse}}
}

// Plan is the argument of `load`: where and how to play. The suite's own parameters are only reported.
type Plan struct {
	URL string `json:"url"`
	// Authorities is a PEM file of the only certificates that are trusted over TLS; without one, the system's are.
	Authorities string `json:"authorities"`
	Protocol    string `json:"protocol"`
	// Declaration is the protocol if the server's files declare it; otherwise the protocol is a built-in one.
	Declaration *declared.Declaration `json:"declaration"`
	Seed        uint64                `json:"seed"`
	Parameters  map[string]any        `json:"parameters"`
	Schedule    schedule.Schedule     `json:"schedule"`
	// Generators is how many k6 processes share the clients, by execution segments; 0 means one.
	Generators int `json:"generators"`
	// Latencies are the suite's names for what is measured, by kind: own, each, first, last, gap.
	Latencies map[string]string `json:"latencies"`
	// Headline is the kind that represents the load if there is room for only one.
	Headline string `json:"headline"`
	// Limits are those that the events of seconds count the exceeding of.
	Limits []engine.Limit `json:"limits"`
	// SpinUS is how long, in microseconds, a loop spins before something is due. It is meant for processors that no other
	// process needs.
	SpinUS int64 `json:"spin_us"`
	// BeginMonotonicUS is when the schedule begins, in CLOCK_MONOTONIC, for generators of one machine that begin together;
	// 0 means as soon as k6 is ready.
	BeginMonotonicUS int64 `json:"begin_monotonic_us"`
	// Sources are the addresses that the clients connect from, round-robin. If empty, the kernel chooses.
	Sources []netip.Addr `json:"sources"`
}

// Groups defines how clients are grouped and when they send.
type Groups struct {
	Size     int    `json:"size"` // 0 means 1
	Pattern  string `json:"pattern"`
	Arrivals string `json:"arrivals"`
	// Rate is how many exchanges a second are due over all clients, instead of a pattern of each client.
	Rate float64 `json:"rate"`
	// Query is appended to the path of requests, for example pace=50.
	Query string `json:"query"`
	// Length is the length, in characters, of the shortest games if the server names the groups. Each event loop of each
	// generator asks for games longer by one, so that the server matches clients of the same loop.
	Length int `json:"length"`
	// Beside are exchanges that each client has beside those of its group, by the protocol's names for them.
	Beside map[string]Beside `json:"beside"`
}

// Beside defines when an exchange of each client alone is due.
type Beside struct {
	Pattern  string `json:"pattern"`
	Arrivals string `json:"arrivals"`
}

// GroupsOf is a function of the suite: it computes the groups from the parameters of a stage.
type GroupsOf func(parameters map[string]any) (groups map[string]any, err error)

// Load is one load as a scenario sees it.
type Load struct {
	instance *instance
	plan     Plan
	groups   []schedule.Groups // by stage
}

// load checks a plan. It throws an error if the plan is invalid.
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
	// A report without parameters has {}.
	if l.plan.Parameters == nil {
		l.plan.Parameters = map[string]any{}
	}
	stages := l.plan.Schedule.Stages
	l.groups = make([]schedule.Groups, len(stages))
	for i := range stages {
		if stages[i].Name == "" {
			stages[i].Name = strconv.Itoa(stages[i].Clients)
		}
		if stages[i].Parameters == nil {
			stages[i].Parameters = map[string]any{}
		}
		if l.groups[i], err = l.groupsOf(stages[i], groups); err != nil {
			return fmt.Errorf("groups of stage %s: %w", stages[i].Name, err)
		}
	}
	_, err = l.plan.Schedule.Populations(l.groups)
	return err
}

// groupsOf calls the suite with the load's parameters, overridden by those of the stage.
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
	if stage.Closed {
		found.Pattern, found.Rate = "closed", 0
	}
	pattern, err := schedule.PatternOf(found.Pattern, found.Arrivals, found.Rate)
	if err != nil {
		return schedule.Groups{}, err
	}
	beside, err := besideOf(found.Beside)
	return schedule.Groups{
		Size: max(1, found.Size), Pattern: pattern, Query: found.Query, Length: found.Length, Beside: beside,
	}, err
}

// besideOf returns the exchanges sorted by name.
func besideOf(named map[string]Beside) ([]schedule.Beside, error) {
	var all []schedule.Beside
	for _, name := range slices.Sorted(maps.Keys(named)) {
		pattern, err := schedule.PatternOf(named[name].Pattern, named[name].Arrivals, 0)
		if err != nil {
			return nil, fmt.Errorf("exchange %s: %w", name, err)
		}
		if !pattern.Own() {
			return nil, fmt.Errorf("exchange %s: it cannot be closed, for it stands beside another", name)
		}
		all = append(all, schedule.Beside{Name: name, Pattern: pattern})
	}
	return all, nil
}

// strict converts through JSON and rejects unknown names.
func strict(from map[string]any, to any) error {
	text, err := json.Marshal(from)
	if err != nil {
		return err
	}
	decoder := json.NewDecoder(strings.NewReader(string(text)))
	decoder.DisallowUnknownFields()
	return decoder.Decode(to)
}

// patience is how long k6 waits for the end of a load beyond its schedule: for the other generators and for clients
// that leave, on a busy machine.
const patience = 20 * time.Second

// Scenario returns the options of a scenario in which every k6 process has one VU, which plays all clients of its
// segment.
func (l *Load) Scenario() map[string]any {
	longest := l.plan.Schedule.End() + l.plan.Schedule.Drain() + patience
	return map[string]any{
		"executor": "per-vu-iterations", "vus": max(1, l.plan.Generators), "iterations": 1,
		"maxDuration": longest.String(), "gracefulStop": patience.String(),
	}
}

// Play plays all clients of this process until the load is over.
func (l *Load) Play() {
	if err := l.instance.module.play(l); err != nil {
		common.Throw(l.instance.vu.Runtime(), fmt.Errorf("k6/x/push: %w", err))
	}
}

// Report returns the load report as one line of JSON, or as a short text to read.
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
	return string(encoded) + "\n"
}

// play makes the engine and runs it. There is one load per process.
func (m *module) play(l *Load) error {
	vu := l.instance.vu
	scenario, state := lib.GetScenarioState(vu.Context()), vu.State()
	if scenario == nil || state == nil {
		return fmt.Errorf("a load is played only inside a scenario")
	}
	e, err := m.newEngine(l, state)
	if err != nil {
		return err
	}
	origin := scenario.StartTime
	if at := l.plan.BeginMonotonicUS; at > 0 {
		origin = engine.AtMonotonic(at)
	}
	e.Play(vu.Context(), origin)
	return nil
}

func (m *module) newEngine(l *Load, state *lib.State) (*engine.Engine, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.engine != nil {
		return nil, fmt.Errorf("the load is played already: `generators` of the plan must be the number of k6 processes")
	}
	config := engine.Config{
		URL: l.plan.URL, Authorities: l.plan.Authorities, Protocol: l.plan.Protocol, Declaration: l.plan.Declaration,
		Seed: l.plan.Seed, Sources: l.plan.Sources,
		Spin:     time.Duration(l.plan.SpinUS) * time.Microsecond,
		Schedule: l.plan.Schedule, Groups: l.groups, Headline: l.plan.Headline, Limits: l.plan.Limits,
		Segment:  state.Options.ExecutionSegment.String(),
		OnSecond: m.metrics.emitter(l.instance.vu.Context(), state, l.plan),
	}
	if err := scale(&config, state.Options); err != nil {
		return nil, err
	}
	if fd, err := strconv.Atoi(os.Getenv("PUSH_EVENTS_FD")); err == nil {
		config.Events = os.NewFile(uintptr(fd), "events")
		config.Meters = strings.Fields(os.Getenv("PUSH_METERS"))
	}
	e, err := engine.New(config)
	m.engine = e
	return e, err
}

// scale reduces the stages' clients to those of this execution segment, as k6 does with VUs, and their rates in
// proportion.
func scale(config *engine.Config, options lib.Options) error {
	tuple, err := lib.NewExecutionTuple(options.ExecutionSegment, options.ExecutionSegmentSequence)
	if err != nil {
		return err
	}
	stages, groups := slices.Clone(config.Schedule.Stages), slices.Clone(config.Groups)
	for i, stage := range stages {
		stages[i].Clients = int(tuple.ScaleInt64(int64(stage.Clients)))
		groups[i].Pattern.Rate *= float64(stages[i].Clients) / float64(stage.Clients)
	}
	config.Schedule.Stages, config.Groups = stages, groups
	return nil
}

func (m *module) report(parameters map[string]any) (*engine.Report, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.engine == nil {
		return nil, fmt.Errorf("nothing was played, so there is nothing to report")
	}
	return m.engine.Report(k6Version(), parameters)
}

// k6Version returns the version of k6 that this binary was built from.
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
