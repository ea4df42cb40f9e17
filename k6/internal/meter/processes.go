// Package meter reads what a server uses from outside its processes: their CPU, memory, threads and context switches,
// what its pod sends and receives, and how often its quota stopped it. It accounts like
// bench/pushbench/machine/resources.py.
package meter

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// ticksPerSecond is USER_HZ, which is 100 on every architecture that Linux supports today.
const ticksPerSecond = 100

// Processes is the resource use of some processes at one moment. Times count from the start of the processes.
type Processes struct {
	CPU, User, System time.Duration
	// MemoryBytes is the anonymous memory of all processes, plus the files and shared memory of the one that maps most.
	MemoryBytes int64
	Threads     int
	Count       int
	// First is the process that started first.
	First int
}

// stat is a line of /proc/<pid>/stat (proc_pid_stat(5)).
type stat struct {
	state                byte
	user, system         time.Duration
	waitedFor            time.Duration
	waitedUser, waitedIn time.Duration
	threads              int
	began                int64
}

// Read sums up the processes of a proc file system; nil if there are none. It leaves out own, and the first process of
// the namespace, which holds a pod's namespaces open.
func Read(proc string, own int) *Processes {
	sum := &Processes{}
	var shared, began int64
	for _, pid := range pids(proc) {
		if pid == 1 || pid == own {
			continue
		}
		folder := filepath.Join(proc, strconv.Itoa(pid))
		found, ok := parseStat(read(filepath.Join(folder, "stat")))
		cpu, alive := cpuClock(pid)
		kilobytes := numbers(read(filepath.Join(folder, "status")))
		if !ok || !alive || found.state == 'Z' || len(kilobytes) == 0 {
			continue
		}
		sum.Count++
		sum.Threads += found.threads
		sum.MemoryBytes += kilobytes["RssAnon"] * 1024
		shared = max(shared, (kilobytes["RssFile"]+kilobytes["RssShmem"])*1024)
		// The clock of an exited child that was waited for is gone; its time remains only in these ticks of its parent.
		sum.CPU += cpu + found.waitedFor
		sum.User += found.user + found.waitedUser
		sum.System += found.system + found.waitedIn
		if sum.First == 0 || found.began < began || found.began == began && pid < sum.First {
			sum.First, began = pid, found.began
		}
	}
	if sum.Count == 0 {
		return nil
	}
	sum.MemoryBytes += shared
	return sum
}

// Sockets returns how many sockets of any kind the processes hold; a shared socket counts once. It leaves out the first
// process of the namespace, and those of the program whose file is own.
func Sockets(proc, own string) int {
	found := map[string]bool{}
	for _, pid := range pids(proc) {
		folder := filepath.Join(proc, strconv.Itoa(pid))
		if program, err := os.Readlink(filepath.Join(folder, "exe")); pid == 1 || err != nil || program == own {
			continue
		}
		for _, descriptor := range pids(filepath.Join(folder, "fd")) {
			name, err := os.Readlink(filepath.Join(folder, "fd", strconv.Itoa(descriptor)))
			if err == nil && strings.HasPrefix(name, "socket:") {
				found[name] = true
			}
		}
	}
	return len(found)
}

func pids(proc string) []int {
	folder, err := os.Open(proc)
	if err != nil {
		return nil
	}
	defer func() { _ = folder.Close() }()
	names, _ := folder.Readdirnames(-1)
	var found []int
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			found = append(found, pid)
		}
	}
	return found
}

func parseStat(line []byte) (stat, bool) {
	// The command may contain spaces and parentheses, so the fields are counted from the last one.
	fields := bytes.Fields(line[bytes.LastIndexByte(line, ')')+1:])
	if len(fields) < 20 {
		return stat{}, false
	}
	ticks := func(field int) time.Duration {
		return time.Duration(integer(fields[field])) * time.Second / ticksPerSecond
	}
	return stat{
		state: fields[0][0], user: ticks(11), system: ticks(12),
		waitedFor: ticks(13) + ticks(14), waitedUser: ticks(13), waitedIn: ticks(14),
		threads: int(integer(fields[17])), began: integer(fields[19]),
	}, true
}

// cpuClock returns the CPU time of all threads of a process, ended ones included. The number of a process's CPU clock
// is `(~pid << 3) | 2` (MAKE_PROCESS_CPUCLOCK with CPUCLOCK_SCHED, in include/linux/posix-timers.h).
func cpuClock(pid int) (time.Duration, bool) {
	var t unix.Timespec
	err := unix.ClockGettime(int32(^pid<<3|2), &t)
	return time.Duration(t.Nano()), err == nil
}

// Switches counts context switches over time. Those of a thread between its last reading and its end are lost.
type Switches struct {
	seen  map[int]int64
	total int64
}

// Count adds the context switches of the threads of all processes, except the first process and own, since the last
// reading. It returns the sum.
func (s *Switches) Count(proc string, own int) int64 {
	now := map[int]int64{}
	for _, pid := range pids(proc) {
		if pid == 1 || pid == own {
			continue
		}
		tasks := filepath.Join(proc, strconv.Itoa(pid), "task")
		for _, thread := range pids(tasks) {
			counters := numbers(read(filepath.Join(tasks, strconv.Itoa(thread), "status")))
			now[thread] = counters["voluntary_ctxt_switches"] + counters["nonvoluntary_ctxt_switches"]
			s.total += max(0, now[thread]-s.seen[thread])
		}
	}
	s.seen = now
	return s.total
}

// read returns the content of a small kernel file; nothing if it does not exist or is not readable.
func read(path string) []byte {
	content, _ := os.ReadFile(path)
	return content
}

// numbers returns the first numbers of lines of the form `Name: 12 kB` or `name 12`.
func numbers(text []byte) map[string]int64 {
	found := map[string]int64{}
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(line)
		if len(words) < 2 {
			continue
		}
		if number, err := strconv.ParseInt(words[1], 10, 64); err == nil {
			found[strings.TrimSuffix(words[0], ":")] = number
		}
	}
	return found
}

func integer(text []byte) int64 {
	number, _ := strconv.ParseInt(string(text), 10, 64)
	return number
}
