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

// The truth tests bound times. Beside others a client waits for its CPU, and a machine that stands still breaks every
// bound. So a test that failed beside others is named and repeated alone, and what it does alone counts. A thread that
// only sleeps tells how long the machine stood still: a test that fails alone on a machine that ran is failed, and one
// that fails while the machine stood still has shown nothing, and is played again.

const (
	// standstill is how late the sleeping thread wakes at least on a machine that stands still. It is as much as
	// the narrowest bound of a test allows.
	standstill = 8 * time.Millisecond
	// attempts is how often a test is played alone that fails on such a machine, before it is skipped.
	attempts = 4
)

// beside is held by each test that plays beside others, and locked by a test that plays alone.
var beside sync.RWMutex

// wakes has, for each wake-up of the sleeping thread that was late by a standstill, when and by how much.
var wakes struct {
	sync.Mutex
	late []lateWake
}

type lateWake struct {
	at time.Time
	by time.Duration
}

// watchMachine starts the thread that sleeps, until the process ends. It keeps a processor of Go's scheduler for
// itself, so that it measures the machine and not the load on that scheduler.
func watchMachine() {
	runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + 1)
	go func() {
		runtime.LockOSThread()
		pause := syscall.NsecToTimespec(int64(time.Millisecond))
		for last := time.Now(); ; {
			// Interrupted by a signal it wakes early, which does no harm.
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

// stoodStill returns the longest time for which the machine stood still since then, or 0.
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

// truthTest plays a test, which takes seconds and is left out by -short.
func truthTest(t *testing.T, test func(t testing.TB)) {
	t.Helper()
	if testing.Short() {
		t.Skip("plays a load for seconds")
	}
	playTruthTest(t, test)
}

// playTruthTest plays a test beside the others, and alone if it failed.
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

// playAlone plays a test until it passes, or fails on a machine that ran. It is skipped where it failed each time while
// the machine stood still.
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
	go func() { // which Fatal ends
		defer close(done)
		test(a)
	}()
	<-done
	for _, cleanup := range slices.Backward(a.cleanups) {
		cleanup()
	}
	return a.failures
}

// attempt is a test whose failures are kept instead of told, and that cleans up at its own end.
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
