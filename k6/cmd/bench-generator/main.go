// Command bench-generator measures what generating load costs. k6/x/push, a plain script of k6's own (k6/websockets or
// k6/http) and the floor (a bare epoll loop) take turns in one run against the same scripted server, with the same
// messages, tokens and requests. It prints CPU per delivery, memory and the relevant ratios, as median [least, most]
// over the rounds, and whether a plain client measures the same latencies.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"time"
)

// clients is the number of clients of every comparison.
const clients = 1000

func main() {
	bin := flag.String("bin", ".", "`folder` with the binaries k6, scripted and floor")
	sources := flag.String("sources", ".", "`folder` of the k6 module")
	rounds := flag.Int("rounds", 5, "rounds; in each, every subject has one turn")
	window := flag.Duration("window", 8*time.Second, "measured time of a turn")
	only := flag.String("only", "", "one `part`: "+
		"boards, declared, declared-streams, declared-requests, tls, socketio, games, streams, requests, agreement or limits")
	flag.Parse()
	b := bench{bin: *bin, sources: *sources, rounds: *rounds, window: *window}
	if err := b.run(*only); err != nil {
		fmt.Fprintln(os.Stderr, "bench-generator:", err)
		os.Exit(1)
	}
}

type bench struct {
	bin, sources string
	rounds       int
	window       time.Duration
}

// run measures one part, or all of them.
func (b bench) run(only string) error {
	parts := []struct {
		name    string
		measure func() error
	}{
		{"boards", b.boards}, {"declared", b.declared}, {"declared-streams", b.declaredStreams},
		{"declared-requests", b.declaredRequests}, {"tls", b.tls}, {"socketio", b.socketIO}, {"games", b.games},
		{"streams", b.streams},
		{"requests", b.requests}, {"agreement", b.agree}, {"limits", b.limits},
	}
	found := false
	for _, part := range parts {
		if only != "" && only != part.name {
			continue
		}
		found = true
		if err := part.measure(); err != nil {
			return fmt.Errorf("%s: %w", part.name, err)
		}
	}
	if !found {
		return fmt.Errorf("no part %q", only)
	}
	return nil
}

// floor and plain are the same binaries for every load.
var (
	floor = subject{name: "floor", binary: "floor", endless: true}
	plain = subject{name: "plain", binary: "plain"}
)

// push returns the subject that plays the scenario of boards.
func (b bench) push() subject { return b.script("k6/x/push", "scenarios/whiteboard.js") }

// script returns k6 with a script of the sources.
func (b bench) script(name, path string) subject {
	return subject{name: name, binary: "k6", arguments: []string{"run", "--quiet", filepath.Join(b.sources, path)}}
}

// results are the turns of every subject, by round.
type results map[string][]turn

// cost returns the CPU time per unit in microseconds.
func (r results) cost(s subject) []float64 {
	return each(r[s.name], turn.microseconds)
}

// memory returns the resident bytes per client.
func (r results) memory(s subject) []float64 {
	return each(r[s.name], func(t turn) float64 { return float64(t.memory) / float64(t.clients) })
}

// sustained reports whether the subject received at least 99 % of the offered load in every turn.
func (r results) sustained(s subject) bool {
	for _, t := range r[s.name] {
		if float64(t.deliveries) < 0.99*t.offered {
			return false
		}
	}
	return true
}

func each(turns []turn, f func(turn) float64) []float64 {
	values := make([]float64, len(turns))
	for i, t := range turns {
		values[i] = f(t)
	}
	return values
}

// compare runs the subjects on a load, taking turns.
func (b bench) compare(l load, subjects ...subject) (results, error) {
	fmt.Printf("\n%s, %d rounds of %s\n", l.title, b.rounds, b.window)
	all := results{}
	for round := range b.rounds {
		for i := range subjects {
			s := subjects[(i+round)%len(subjects)] // no subject is always first
			t, err := b.turn(s, l)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", s.name, err)
			}
			all[s.name] = append(all[s.name], t)
			fmt.Fprintf(os.Stderr, "  round %d of %d: %s, %.1f us per %s\n", round+1, b.rounds, s.name, t.microseconds(), l.unit)
		}
	}
	for _, s := range subjects {
		rates := each(all[s.name], func(t turn) float64 { return float64(t.deliveries) / b.window.Seconds() })
		cores := each(all[s.name], func(t turn) float64 { return t.cpu.Seconds() / b.window.Seconds() })
		fmt.Printf("%-14s CPU %s us per %s, %s cores, %s/s, %s KiB per client\n", s.name,
			spread(all.cost(s), "%.1f"), l.unit, spread(cores, "%.2f"), spread(rates, "%.0f"),
			spread(scaled(all.memory(s), 1.0/1024), "%.0f"))
	}
	return all, nil
}

func scaled(values []float64, by float64) []float64 {
	out := make([]float64, len(values))
	for i, v := range values {
		out[i] = v * by
	}
	return out
}

// printRatio compares turns of the same round, so that a change of the machine's speed affects both.
func printRatio(label string, a, b []float64) {
	ratios := make([]float64, len(a))
	for i := range a {
		ratios[i] = a[i] / b[i]
	}
	fmt.Printf("%s: %s\n", label, spread(ratios, "%.2f"))
}

// spread formats the median [least, most].
func spread(values []float64, format string) string {
	sorted := append([]float64(nil), values...)
	sort.Float64s(sorted)
	median := (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
	return fmt.Sprintf(format+" ["+format+", "+format+"]", median, sorted[0], sorted[len(sorted)-1])
}
