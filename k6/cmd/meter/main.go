// Command meter runs beside a server in its pod, whose processes it can see. It prints what the server uses as lines of
// JSON, ten a second. It also serves the time to generators, so that its lines can be compared with their windows. With
// -sockets or -reach it answers one query and exits.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pushbench/pushbench/k6/internal/clock"
	"github.com/pushbench/pushbench/k6/internal/meter"
)

const (
	period = 100 * time.Millisecond
	// rare is the number of readings of which one has context switches, which cost reading a file for each thread.
	rare = 10
	// listed sets the pause between two counts of connections: one reading per this many connections, because the kernel
	// lists them all.
	listed = 100
	proc   = "/proc"
	// reachable is how long an address has to accept a connection: where a policy forbids it, packets are lost.
	reachable = 3 * time.Second
)

// reading is a line of output. Times are in microseconds since an arbitrary beginning; `at` is CLOCK_MONOTONIC.
type reading struct {
	At int64 `json:"meter_at"`
	// Realtime is CLOCK_REALTIME less CLOCK_MONOTONIC, which changes when the clock is set.
	Realtime int64   `json:"realtime"`
	Server   *server `json:"server"` // null if no process is visible
	Received int64   `json:"received_bytes"`
	Sent     int64   `json:"sent_bytes"`
	Steal    int64   `json:"steal"`
	Swapped  int64   `json:"swapped_bytes"`
	Clients  *int    `json:"clients,omitempty"`
}

type server struct {
	CPU       int64  `json:"cpu"`
	User      int64  `json:"user"`
	System    int64  `json:"system"`
	Memory    int64  `json:"memory_bytes"`
	Threads   int    `json:"threads"`
	Processes int    `json:"processes"`
	Switches  *int64 `json:"switches,omitempty"`
	Throttled *int64 `json:"throttled,omitempty"`
}

func main() {
	address := flag.String("listen", ":18080", "where generators ask for the time")
	port := flag.Int("port", 8080, "where the server listens")
	sockets := flag.Bool("sockets", false, "print how many sockets the server has open, and nothing else")
	reach := flag.String("reach", "", "print whether this `address` accepts connections, and nothing else")
	flag.Parse()
	if *reach != "" {
		connection, err := net.DialTimeout("tcp", *reach, reachable)
		fmt.Println(err == nil)
		if err == nil {
			_ = connection.Close()
		}
		return
	}
	if *sockets {
		if err := printSockets(); err != nil {
			fmt.Fprintln(os.Stderr, "meter:", err)
			os.Exit(1)
		}
		return
	}
	if err := run(*address, *port); err != nil {
		fmt.Fprintln(os.Stderr, "meter:", err)
		os.Exit(1)
	}
}

func printSockets() error {
	own, err := os.Executable()
	if err == nil {
		fmt.Println(meter.Sockets(proc, own))
	}
	return err
}

func run(address string, port int) error {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	defer func() { _ = listener.Close() }()
	go clock.Serve(listener)
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGTERM, syscall.SIGINT)
	ticker := time.NewTicker(period)
	defer ticker.Stop()
	own, out := os.Getpid(), json.NewEncoder(os.Stdout)
	if own == 1 {
		return errors.New("the pod does not share its processes (shareProcessNamespace)")
	}
	var switches meter.Switches
	next := 0 // the next reading with a count of connections
	for number := 0; ; number++ {
		found := look(own, &switches, number%rare == 0)
		if number >= next {
			clients := meter.Connections(proc, port)
			found.Clients, next = &clients, number+max(rare, clients/listed)
		}
		if err := out.Encode(found); err != nil {
			return err
		}
		select {
		case <-ended:
			return nil
		case <-ticker.C:
		}
	}
}

func look(own int, switches *meter.Switches, withSwitches bool) reading {
	node := meter.ReadNode(proc)
	received, sent := meter.Traffic(proc)
	found := reading{
		At: clock.Monotonic(), Realtime: realtime(), Received: received, Sent: sent,
		Steal: node.Steal.Microseconds(), Swapped: node.SwappedBytes,
	}
	used := meter.Read(proc, own)
	if used == nil {
		return found
	}
	found.Server = &server{
		CPU: used.CPU.Microseconds(), User: used.User.Microseconds(), System: used.System.Microseconds(),
		Memory: used.MemoryBytes, Threads: used.Threads, Processes: used.Count,
	}
	if withSwitches {
		count := switches.Count(proc, own)
		found.Server.Switches = &count
	}
	if throttled, ok := meter.Throttled(proc, used.First); ok {
		microseconds := throttled.Microseconds()
		found.Server.Throttled = &microseconds
	}
	return found
}

// realtime returns the offset of the closest of several pairs of readings, because the process may have waited between
// two readings.
func realtime() int64 {
	var best, closest int64
	for i := range 5 {
		var t unix.Timespec
		before := clock.Monotonic()
		_ = unix.ClockGettime(unix.CLOCK_REALTIME, &t)
		after := clock.Monotonic()
		if apart := after - before; i == 0 || apart < closest {
			best, closest = t.Nano()/1000-(before+after)/2, apart
		}
	}
	return best
}
