// Command bench-generator measures what generating load costs: k6/x/push, a plain k6/websockets script and the floor (a bare epoll
// reader) take turns in one run against the same scripted server and the same messages. It prints CPU per delivery, memory
// and the ratios that matter, as median [least, most] over the rounds; and whether a plain client finds the same latencies.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"time"
)

// clients of every comparison; the board size sets the deliveries: each client draws once a second for its whole board.
const clients = 1000

func main() {
	bin := flag.String("bin", ".", "`folder` with the binaries k6, scripted and floor")
	sources := flag.String("sources", ".", "`folder` of the k6 module")
	rounds := flag.Int("rounds", 5, "rounds; in each, every subject has one turn")
	window := flag.Duration("window", 8*time.Second, "measured time of a turn")
	flag.Parse()
	b := bench{bin: *bin, sources: *sources, rounds: *rounds, window: *window}
	if err := b.run(); err != nil {
		fmt.Fprintln(os.Stderr, "bench-generator:", err)
		os.Exit(1)
	}
}

type bench struct {
	bin, sources string
	rounds       int
	window       time.Duration
}

func (b bench) run() error {
	push := subject{"k6/x/push", []string{"run", "--quiet", filepath.Join(b.sources, "scenarios/whiteboard.js")}, "k6", false}
	script := subject{"k6/websockets", []string{"run", "--quiet", filepath.Join(b.sources, "cmd/bench-generator/websockets.js")}, "k6", false}
	floor := subject{"floor", nil, "floor", true}
	plain := subject{"plain", nil, "plain", false}

	at20, err := b.compare(20_000, push, script, floor)
	if err != nil {
		return err
	}
	printRatio("ratio to k6/websockets", at20.cost(push), at20.cost(script))
	printRatio("memory per client, ratio to k6/websockets", at20.memory(push), at20.memory(script))
	if !at20.sustained(script) {
		fmt.Println("(k6/websockets did not take every delivery at this rate; its cost is that of those it took)")
	}
	at50, err := b.compare(50_000, push, script, floor)
	if err != nil {
		return err
	}
	printRatio("ratio to the floor at 50,000/s", at50.cost(push), at50.cost(floor))
	if at50.sustained(script) {
		printRatio("ratio to k6/websockets at 50,000/s", at50.cost(push), at50.cost(script))
	}
	if err := b.agree(push, plain); err != nil {
		return err
	}
	if err := b.mostFromOneCore(push); err != nil {
		return err
	}
	return b.manyClients(push)
}

// results are the turns of every subject, in the order of the rounds.
type results map[string][]turn

func (r results) cost(s subject) []float64 {
	return each(r[s.name], func(t turn) float64 { return t.cpu.Seconds() / float64(t.deliveries) })
}

func (r results) memory(s subject) []float64 {
	return each(r[s.name], func(t turn) float64 { return float64(t.memory) / float64(t.clients) })
}

// sustained tells whether the subject took at least 99 % of what was offered in every turn.
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

func (b bench) compare(rate int, subjects ...subject) (results, error) {
	fmt.Printf("\n%d deliveries/s: %d clients, boards of %d, %d rounds of %s\n", rate, clients, rate/clients, b.rounds, b.window)
	all := results{}
	for round := range b.rounds {
		for i := range subjects {
			s := subjects[(i+round)%len(subjects)] // nobody is always first
			t, err := b.turn(s, clients, rate/clients)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", s.name, err)
			}
			all[s.name] = append(all[s.name], t)
			fmt.Fprintf(os.Stderr, "  round %d of %d: %s, %.1f us per delivery\n", round+1, b.rounds, s.name, 1e6*t.cpu.Seconds()/float64(t.deliveries))
		}
	}
	for _, s := range subjects {
		rates := each(all[s.name], func(t turn) float64 { return float64(t.deliveries) / b.window.Seconds() })
		cores := each(all[s.name], func(t turn) float64 { return t.cpu.Seconds() / b.window.Seconds() })
		fmt.Printf("%-14s CPU %s us per delivery, %s cores, %s deliveries/s, %s KiB per client\n", s.name,
			spread(scaled(all.cost(s), 1e6), "%.1f"), spread(cores, "%.2f"), spread(rates, "%.0f"),
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

// printRatio compares turns of the same round, so that a machine that changes its speed changes both.
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
