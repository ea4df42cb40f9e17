package meter

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

// procOf returns a proc file system with the first process of this machine, this process, and some others.
func procOf(t *testing.T, others ...int) string {
	t.Helper()
	folder := t.TempDir()
	for _, pid := range append([]int{1, os.Getpid()}, others...) {
		name := strconv.Itoa(pid)
		if err := os.Symlink("/proc/"+name, filepath.Join(folder, name)); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

func start(t *testing.T, script string) *exec.Cmd {
	t.Helper()
	command := exec.Command("sh", "-c", script)
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = command.Process.Kill(); _ = command.Wait() })
	return command
}

// until polls, with a timeout for a busy machine.
func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s: not within a minute", what)
		}
	}
}

func TestTheServersProcessesAreAccountedAndNoOther(t *testing.T) {
	busy, idle := start(t, "while :; do :; done"), start(t, "exec sleep 1000")
	proc := procOf(t, busy.Process.Pid, idle.Process.Pid)
	used := &Processes{}
	until(t, "a tenth of a second of CPU", func() bool {
		used = Read(proc, os.Getpid())
		return used != nil && used.CPU > 100*time.Millisecond
	})
	if used.Count != 2 || used.Threads != 2 || used.First != busy.Process.Pid {
		t.Errorf("%+v, expected two processes of one thread", used)
	}
	if rss := numbers(read(fmt.Sprintf("/proc/%d/status", busy.Process.Pid)))["VmRSS"] * 1024; used.MemoryBytes < rss/2 ||
		used.MemoryBytes > 3*rss {
		t.Errorf("%d bytes of memory, where one process has %d", used.MemoryBytes, rss)
	}
	_ = busy.Process.Kill()
	_ = busy.Wait()
	// The kernel's own account at the end.
	whole := busy.ProcessState.UserTime() + busy.ProcessState.SystemTime()
	if tick := time.Second / ticksPerSecond; used.CPU > whole+tick || used.User+used.System > whole+2*tick {
		t.Errorf("%s of CPU (%s and %s), later %s at the end", used.CPU, used.User, used.System, whole)
	}
	if left := Read(proc, os.Getpid()); left == nil || left.Count != 1 {
		t.Errorf("%+v, expected the idle process alone", left)
	}
}

func TestSocketsAreThoseOfTheServerOnce(t *testing.T) {
	listener, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	file, err := listener.File()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	var servers []int
	for range 2 { // children that share the socket with this process
		server := exec.Command("sleep", "1000")
		server.ExtraFiles = []*os.File{file}
		if err := server.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = server.Process.Kill(); _ = server.Wait() })
		servers = append(servers, server.Process.Pid)
	}
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if found := Sockets(procOf(t, servers...), own); found != 1 {
		t.Errorf("%d sockets, expected one", found)
	}
	if found := Sockets(procOf(t), own); found != 0 {
		t.Errorf("%d sockets of this program, expected none", found)
	}
}

func TestAZombieIsNoServer(t *testing.T) {
	ended := start(t, "exit 0")
	proc := procOf(t, ended.Process.Pid)
	until(t, "nothing is left", func() bool { return Read(proc, os.Getpid()) == nil })
}

func TestSwitchesAddUp(t *testing.T) {
	// It sleeps repeatedly, and each sleep is a switch.
	child := start(t, "while :; do sleep 0.01; done")
	proc := procOf(t, child.Process.Pid)
	var switches Switches
	last := switches.Count(proc, os.Getpid())
	until(t, "three switches", func() bool { return switches.Count(proc, os.Getpid()) >= last+3 })
	_ = child.Process.Kill()
	_ = child.Wait()
	sum := switches.Count(proc, os.Getpid())
	if again := switches.Count(proc, os.Getpid()); again != sum || sum < last+3 {
		t.Errorf("%d, then %d: a thread that ended takes nothing away", sum, again)
	}
}

// write makes a file in a folder of a fake proc file system.
func write(t *testing.T, proc, name, content string) {
	t.Helper()
	file := filepath.Join(proc, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestThrottlingIsReadInBothVersions(t *testing.T) {
	for name, file := range map[string][2]string{
		"2":          {"cpu.stat", "usage_usec 9\nnr_periods 7\nnr_throttled 3\nthrottled_usec 1500000\n"},
		"1":          {"cpu/cpu.stat", "nr_periods 7\nnr_throttled 3\nthrottled_time 1500000000\n"},
		"1, mounted": {"cpu,cpuacct/cpu.stat", "nr_periods 7\nnr_throttled 3\nthrottled_time 1500000000\n"},
	} {
		proc := t.TempDir()
		write(t, proc, "7/root/sys/fs/cgroup/"+file[0], file[1])
		if found, ok := Throttled(proc, 7); !ok || found != 1500*time.Millisecond {
			t.Errorf("version %s: %s, %t", name, found, ok)
		}
		if _, ok := Throttled(proc, 8); ok {
			t.Errorf("version %s: a process that cannot be seen was never throttled", name)
		}
	}
}

func TestTrafficIsThatOfThePodsDevices(t *testing.T) {
	proc := t.TempDir()
	write(t, proc, "net/dev", "Inter-|   Receive  |  Transmit\n"+
		" face |bytes packets errs drop fifo frame compressed multicast|"+
		"bytes packets\n    lo: 500 5 0 0 0 0 0 0 500 5 0 0 0 0 0 0\n  eth0: 1000 9 0 0 0 0 0 0 70 8 0 0 0 0 0 0\n"+
		"  eth1:3 1 0 0 0 0 0 0 4 1 0 0 0 0 0 0\n")
	if received, sent := Traffic(proc); received != 1003 || sent != 74 {
		t.Errorf("received %d, sent %d", received, sent)
	}
}

func TestConnectionsAreThoseOfClientsToThePort(t *testing.T) {
	proc := t.TempDir()
	const head = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid\n"
	write(t, proc, "net/tcp", head+
		"   0: 00000000:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000 0\n"+ // listens
		"   1: 0301F40A:1F90 0202F40A:9C40 01 00000000:00000000 00:00000000 00000000 0\n"+
		"   2: 0301F40A:1F90 0202F40A:9C41 06 00000000:00000000 00:00000000 00000000 0\n"+ // ended
		"   3: 0301F40A:9C42 0102F40A:1F90 01 00000000:00000000 00:00000000 00000000 0\n") // its own, to another
	write(t, proc, "net/tcp6", head+
		"   0: 0000000000000000FFFF00000301F40A:1F90 0000000000000000FFFF00000202F40A:9C43 01 00000000:00000000 00 0\n")
	if found := Connections(proc, 8080); found != 2 {
		t.Errorf("%d connections, expected 2", found)
	}
}

func TestTheMachinesStealAndSwap(t *testing.T) {
	proc := t.TempDir()
	write(t, proc, "stat", "cpu  1 2 3 4 5 6 7 250 0 0\ncpu0 1 2 3 4 5 6 7 250 0 0\n")
	write(t, proc, "vmstat", "pswpin 2\npswpout 3\n")
	if found := ReadNode(proc); found.Steal != 2500*time.Millisecond || found.SwappedBytes != 5*4096 {
		t.Errorf("%+v", found)
	}
}
