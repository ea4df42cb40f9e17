package main

import (
	"fmt"
	"os"
	"strings"
	"time"
)

// agreementClients is a load that a plain client handles easily, so that clients are compared and not their queues.
const agreementClients = 200

// agree compares the delivery p50 of k6/x/push with that of a plain client, in turns, on a server without faults.
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

// deliveryP50 finds the median in a subject's output: in a column of the table of k6/x/push, after the name of the
// plain client.
func deliveryP50(output string) (time.Duration, error) {
	if _, rest, found := strings.Cut(output, "delivery p50 "); found && !strings.Contains(output, "stage") {
		return time.ParseDuration(strings.Fields(rest)[0])
	}
	for _, line := range strings.Split(output, "\n") {
		if fields := strings.Fields(line); len(fields) == 12 && strings.Contains(fields[1], "/") {
			return time.ParseDuration(fields[7])
		}
	}
	return 0, fmt.Errorf("no delivery p50 in %q", output)
}
