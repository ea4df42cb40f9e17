package main

import (
	"fmt"
	"os"
	"runtime"
	"strings"
)

// limits measures the limits of k6/x/push.
func (b bench) limits() error {
	push := b.push()
	if err := b.mostFromOneCore(push); err != nil {
		return err
	}
	return b.manyClients(push)
}

// mostFromOneCore drives 100,000 deliveries/s from one core and prints the CPU and the output of k6/x/push.
func (b bench) mostFromOneCore(push subject) error {
	if runtime.NumCPU() < 2 {
		fmt.Println("\n100,000 deliveries/s from one core: skipped, the server needs a second one")
		return nil
	}
	l := onBoards(clients, 100)
	l.serverCPUs, l.subjectCPUs = []int{0}, []int{1}
	t, err := b.turn(push, l)
	if err != nil {
		return err
	}
	fmt.Printf("\n100,000 deliveries/s from one core (server on another): %.0f/s at %.2f cores, %.1f us per delivery\n%s",
		float64(t.deliveries)/b.window.Seconds(), t.cpu.Seconds()/b.window.Seconds(), t.microseconds(), t.output)
	return nil
}

// manyClients connects 10,000 clients, of which one per board writes.
func (b bench) manyClients(push subject) error {
	const many = 10_000
	if limit := openFiles(); limit < many+100 {
		fmt.Printf("\n%d clients: skipped, this shell may open only %d files (ulimit -n)\n", many, limit)
		return nil
	}
	l := onBoards(many, 10)
	l.environment = append(l.environment, "PATTERN=sparse")
	t, err := b.turn(push, l)
	if err != nil {
		return err
	}
	fmt.Printf("\n%d connected clients: %.2f GiB resident, %.0f KiB per client\n%s",
		many, float64(t.memory)/(1<<30), float64(t.memory)/many/1024, t.output)
	return nil
}

// openFiles returns the hard limit, to which Go programs raise their soft limit.
func openFiles() int {
	text, err := os.ReadFile("/proc/self/limits")
	if err != nil {
		return 0
	}
	for _, line := range strings.Split(string(text), "\n") {
		if strings.HasPrefix(line, "Max open files") {
			var soft, hard int
			if _, err := fmt.Sscan(strings.TrimPrefix(line, "Max open files"), &soft, &hard); err == nil {
				return hard
			}
		}
	}
	return 0
}
