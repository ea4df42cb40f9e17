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
	// burnAtOnce is the CPU time of one burn. Waking up takes up to 0.4 ms, most of it in Go's scheduler: woken every
	// 20 ms, a burn of 5 % took 37 % of what a server with 5 % of a core used.
	burnAtOnce = time.Millisecond
	minPause   = 20 * time.Millisecond
	maxPause   = 500 * time.Millisecond
	// lookEvery is how often the process tree is read: a look costs more than a burn.
	lookEvery = time.Second
	leakEvery = 100 * time.Millisecond
)

// burn uses `share` of the CPU time that pid and its descendants use, the overhead of burning included.
func burn(pid int, share float64) {
	var pids []int
	var looked time.Time
	pause, before, begun := minPause, time.Duration(0), cpuTime(0)
	for {
		time.Sleep(pause)
		if time.Since(looked) > lookEvery {
			pids, looked = tree(pid), time.Now()
		}
		var used time.Duration
		for _, each := range pids {
			used += cpuTime(each)
		}
		wanted := time.Duration(share * float64(used))
		for cpuTime(0)-begun < wanted {
			spin()
		}
		pause = pauseAfter(pause, wanted-before)
		before = wanted
	}
}

// pauseAfter returns how long to wait for burnAtOnce to be due, if `grown` became due in the last pause.
func pauseAfter(pause, grown time.Duration) time.Duration {
	if grown <= 0 {
		return maxPause
	}
	return min(max(time.Duration(float64(pause)*float64(burnAtOnce)/float64(grown)), minPause), maxPause)
}

// cpuTime returns the CPU time of all threads of a process; pid 0 is this one. It returns 0 for a process that has
// ended.
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

// spin uses the CPU for some microseconds.
func spin() {
	sum := uint64(0)
	for i := range uint64(5000) {
		sum += i * i
	}
	runtime.KeepAlive(sum)
}

// tree returns pid and all its descendants.
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
