package meter

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"
)

// Throttled returns how long the quota of a process's cgroup has stopped it, summed over CPUs; ok is false if the
// cgroup is not visible. A container sees its own cgroup at the usual place; other processes of its user see it through
// the container's root.
func Throttled(proc string, pid int) (sum time.Duration, ok bool) {
	root := filepath.Join(proc, fmt.Sprint(pid), "root/sys/fs/cgroup")
	if found := numbers(read(filepath.Join(root, "cpu.stat"))); len(found) > 0 { // version 2
		microseconds, ok := found["throttled_usec"]
		return time.Duration(microseconds) * time.Microsecond, ok
	}
	for _, controller := range []string{"cpu", "cpu,cpuacct"} { // version 1
		if found := numbers(read(filepath.Join(root, controller, "cpu.stat"))); len(found) > 0 {
			nanoseconds, ok := found["throttled_time"]
			return time.Duration(nanoseconds), ok
		}
	}
	return 0, false
}

// Traffic returns what the network namespace of this process has received and sent, without its loopback device.
func Traffic(proc string) (received, sent int64) {
	for line := range strings.Lines(string(read(filepath.Join(proc, "net/dev")))) {
		device, counters, ok := strings.Cut(line, ":")
		fields := strings.Fields(counters)
		if !ok || strings.TrimSpace(device) == "lo" || len(fields) < 9 {
			continue
		}
		received += integer([]byte(fields[0]))
		sent += integer([]byte(fields[8]))
	}
	return received, sent
}

// Connections returns how many clients are connected to a port of this network namespace.
func Connections(proc string, port int) int {
	const established = "01"
	suffix, count := fmt.Sprintf(":%04X", port), 0
	for _, table := range []string{"net/tcp", "net/tcp6"} {
		for line := range strings.Lines(string(read(filepath.Join(proc, table)))) {
			fields := strings.Fields(line)
			if len(fields) > 3 && fields[3] == established && strings.HasSuffix(fields[1], suffix) {
				count++
			}
		}
	}
	return count
}

// Node is what the machine's kernel counts for everything that runs on it.
type Node struct {
	// Steal is the CPU time that the hypervisor gave to other machines.
	Steal        time.Duration
	SwappedBytes int64
}

// ReadNode reads the counters of the machine.
func ReadNode(proc string) Node {
	var node Node
	for line := range strings.Lines(string(read(filepath.Join(proc, "stat")))) {
		if fields := strings.Fields(line); len(fields) > 8 && fields[0] == "cpu" {
			node.Steal = time.Duration(integer([]byte(fields[8]))) * time.Second / ticksPerSecond
		}
	}
	pages := numbers(read(filepath.Join(proc, "vmstat")))
	node.SwappedBytes = (pages["pswpin"] + pages["pswpout"]) * 4096
	return node
}
