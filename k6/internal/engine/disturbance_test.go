package engine

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unsafe"
)

// The truth tests bound times. In parallel with other tests, a client waits for its CPU, and a machine that stalls
// breaks every bound. So a test that fails in parallel is reported and repeated alone, and only the result of the
// repetition counts. A thread that only sleeps measures how long the machine stalled. A test that fails alone without a
// stall has failed; one that fails during a stall has shown nothing and is played again.

const (
	// standstill is by how much the sleeping thread wakes up late, at least, when the machine stalls. It equals the
	// narrowest bound of a test.
	standstill = 8 * time.Millisecond
	// attempts is how often a test that fails during a stall is played alone before it is skipped.
	attempts = 4
)

// beside is read-locked by each test that runs in parallel, and locked by a test that runs alone.
var beside sync.RWMutex

// wakes records when the sleeping thread woke up late by a standstill or more, and by how much.
var wakes struct {
	sync.Mutex
	late []lateWake
}

type lateWake struct {
	at time.Time
	by time.Duration
}

// watchMachine starts the sleeping thread, which runs until the process ends. It keeps a processor of Go's scheduler
// for itself, so that it measures the machine and not the load on that scheduler.
func watchMachine() {
	runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + 1)
	go func() {
		runtime.LockOSThread()
		pause := syscall.NsecToTimespec(int64(time.Millisecond))
		for last := time.Now(); ; {
			// A signal wakes it early, which does no harm.
			_, _, _ = syscall.RawSyscall(syscall.SYS_NANOSLEEP, uintptr(unsafe.Pointer(&pause)), 0, 0)
			now := time.Now()
			if by := now.Sub(last) - time.Millisecond; by >= standstill {
				wakes.Lock()
				wakes.late = append(wakes.late, lateWake{now, by})
				wakes.Unlock()
			}
			last = now
		}
	}()
}

// stoodStill returns the longest time for which the machine has stalled since then, or 0.
func stoodStill(since time.Time) time.Duration {
	wakes.Lock()
	defer wakes.Unlock()
	var longest time.Duration
	for _, wake := range slices.Backward(wakes.late) {
		if wake.at.Before(since) {
			break
		}
		longest = max(longest, wake.by)
	}
	return longest
}

// truthTest plays a test. Truth tests take seconds, so -short skips them.
func truthTest(t *testing.T, test func(t testing.TB)) {
	t.Helper()
	if testing.Short() {
		t.Skip("plays a load for seconds")
	}
	playTruthTest(t, test)
}

// playTruthTest plays a test in parallel with the others, and alone if it failed.
func playTruthTest(t *testing.T, test func(t testing.TB)) {
	t.Helper()
	t.Parallel()
	beside.RLock()
	failures := playAttempt(t, test)
	beside.RUnlock()
	if len(failures) == 0 {
		return
	}
	fmt.Fprintf(os.Stderr, "%s failed beside others, repeated alone: %s\n", t.Name(), strings.Join(failures, "; "))
	beside.Lock()
	defer beside.Unlock()
	playAlone(t, test)
}

// playAlone plays a test until it passes or fails without a stall. The test is skipped if the machine stalled in each
// attempt that failed.
func playAlone(t *testing.T, test func(t testing.TB)) {
	t.Helper()
	for n := 1; ; n++ {
		begin := time.Now()
		failures := playAttempt(t, test)
		still := stoodStill(begin)
		switch {
		case len(failures) == 0:
			return
		case still == 0 || n == attempts:
			for _, failure := range failures {
				t.Log(failure)
			}
			if still == 0 {
				t.FailNow()
			}
			t.Skipf("failed %d times while the machine stood still, at last for %s", attempts, still)
		default:
			t.Logf("the machine stood still for %s, and the test failed: playing it again", still)
		}
	}
}

// playAttempt plays a test once, and returns its failures.
func playAttempt(t *testing.T, test func(t testing.TB)) []string {
	t.Helper()
	a := &attempt{TB: t}
	done := make(chan struct{})
	go func() { // a goroutine of its own, because Fatal ends it
		defer close(done)
		test(a)
	}()
	<-done
	for _, cleanup := range slices.Backward(a.cleanups) {
		cleanup()
	}
	return a.failures
}

// attempt is a test that keeps its failures instead of reporting them, and cleans up when it ends.
type attempt struct {
	testing.TB
	mu       sync.Mutex
	failures []string
	cleanups []func()
}

func (a *attempt) Cleanup(f func())                  { a.cleanups = append(a.cleanups, f) }
func (a *attempt) Error(args ...any)                 { a.keep(fmt.Sprint(args...)) }
func (a *attempt) Errorf(format string, args ...any) { a.keep(fmt.Sprintf(format, args...)) }

func (a *attempt) Fatal(args ...any) {
	a.keep(fmt.Sprint(args...))
	runtime.Goexit()
}

func (a *attempt) Fatalf(format string, args ...any) {
	a.keep(fmt.Sprintf(format, args...))
	runtime.Goexit()
}

func (a *attempt) keep(failure string) {
	_, file, line, _ := runtime.Caller(2)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.failures = append(a.failures, fmt.Sprintf("%s:%d: %s", filepath.Base(file), line, failure))
}
