package main

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"
)

// agreementClients is a load that a plain client handles easily, so that clients are compared and not their queues.
const agreementClients = 200

// agree compares the delivery p50 of k6/x/push with that of a plain client. The two take turns on a server without
// faults.
func (b bench) agree() error {
	push := b.push()
	fmt.Printf("\ndelivery p50 with %d clients, boards of 10, %d rounds of %s\n", agreementClients, b.rounds, b.window)
	found := map[string][]float64{}
	for round := range b.rounds {
		turns := []subject{push, plain}
		if round%2 == 1 {
			turns = []subject{plain, push}
		}
		for _, s := range turns {
			t, err := b.turn(s, onBoards(agreementClients, 10))
			if err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
			p50, err := deliveryP50(t.output)
			if err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
			found[s.name] = append(found[s.name], float64(p50.Microseconds()))
			fmt.Fprintf(os.Stderr, "  round %d of %d: %s, %s\n", round+1, b.rounds, s.name, p50)
		}
	}
	for _, s := range []subject{push, plain} {
		fmt.Printf("%-14s %s us\n", s.name, spread(found[s.name], "%.0f"))
	}
	printRatio("ratio of the p50 to a plain Go client's", found[push.name], found[plain.name])
	return nil
}

// columns of the table that k6/x/push prints are at least two spaces apart.
var columns = regexp.MustCompile(` {2,}`)

// deliveryP50 finds the median in a subject's output: in a column of the table of k6/x/push, or after the name of the
// plain client.
func deliveryP50(output string) (time.Duration, error) {
	var at int
	for _, line := range strings.Split(output, "\n") {
		if _, rest, found := strings.Cut(line, "delivery p50 "); found {
			return time.ParseDuration(strings.Fields(rest)[0])
		}
		fields := columns.Split(strings.TrimSpace(line), -1)
		switch {
		case fields[0] == "stage":
			at = slices.Index(fields, "each p50")
		case at > 0 && at < len(fields):
			return time.ParseDuration(fields[at])
		}
	}
	return 0, fmt.Errorf("no delivery p50 in %q", output)
}
