package main

import (
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

const (
	burnEvery = 20 * time.Millisecond
	// lookEvery is how often the process tree is read: a look costs more than a burn.
	lookEvery = time.Second
	leakEvery = 100 * time.Millisecond
)

// burn uses `share` of the CPU time that pid and its descendants use, its own overhead included.
func burn(pid int, share float64) {
	var pids []int
	looked := time.Time{}
	for range time.Tick(burnEvery) {
		if time.Since(looked) > lookEvery {
			pids, looked = tree(pid), time.Now()
		}
		var used time.Duration
		for _, each := range pids {
			used += cpuTime(each)
		}
		for wanted := time.Duration(share * float64(used)); cpuTime(0) < wanted; {
			spin()
		}
	}
}

// cpuTime is the CPU time of all threads of a process; pid 0 is this one. 0 for a process that has ended.
func cpuTime(pid int) time.Duration {
	clock := int32(^pid<<3 | 2) // CPUCLOCK_SCHED of the process, as clock_getcpuclockid(3) makes it
	if pid == 0 {
		clock = unix.CLOCK_PROCESS_CPUTIME_ID
	}
	var t unix.Timespec
	if unix.ClockGettime(clock, &t) != nil {
		return 0
	}
	return time.Duration(t.Nano())
}

// spin takes some microseconds.
func spin() {
	sum := uint64(0)
	for i := range uint64(5000) {
		sum += i * i
	}
	runtime.KeepAlive(sum)
}

// tree is pid and all its descendants.
func tree(pid int) []int {
	found := []int{pid}
	for i := 0; i < len(found); i++ {
		tasks, _ := os.ReadDir("/proc/" + strconv.Itoa(found[i]) + "/task")
		for _, task := range tasks {
			children, _ := os.ReadFile("/proc/" + strconv.Itoa(found[i]) + "/task/" + task.Name() + "/children")
			for _, child := range strings.Fields(string(children)) {
				if number, err := strconv.Atoi(child); err == nil {
					found = append(found, number)
				}
			}
		}
	}
	return found
}

// leak allocates memory and touches it, so that it is resident.
func leak(perSecond int64) {
	var kept [][]byte
	for range time.Tick(leakEvery) {
		block := make([]byte, perSecond*int64(leakEvery)/int64(time.Second))
		for i := 0; i < len(block); i += 4096 {
			block[i] = 1
		}
		kept = append(kept, block)
	}
	_ = kept
}
