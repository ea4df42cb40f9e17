package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pushbench/pushbench/k6/internal/scripted"
)

// How long a turn's clients may take to connect, and how long they settle afterwards.
const (
	connectPatience = 60 * time.Second
	settle          = 3 * time.Second
)

// subject is a client process under measurement.
type subject struct {
	name        string
	binary      string
	arguments   []string
	environment []string // in addition to that of the load
	authorities string   // trusts this file, and connects with TLS
	endless     bool     // it goes on until it is stopped, and says nothing on boards: there the server makes the messages
}

// turn is the cost of one subject in one window.
type turn struct {
	cpu        time.Duration
	deliveries int64   // deliveries, tokens or answers that the server wrote in the window
	offered    float64 // how many of them were due in the window
	memory     int64   // resident bytes at the end
	clients    int
	output     string
}

// microseconds returns the CPU time per unit.
func (t turn) microseconds() float64 { return 1e6 * t.cpu.Seconds() / float64(t.deliveries) }

// turn runs a fresh server and a fresh subject, waits until all clients are connected, and measures one window.
func (b bench) turn(s subject, l load) (turn, error) {
	server, url, secured, err := b.startServer(s, l)
	if err != nil {
		return turn{}, err
	}
	defer server.end()
	seconds := (b.window + settle + 2*time.Second).Seconds()
	variables := append(l.variables(url, seconds), s.environment...)
	if s.authorities != "" {
		variables = append(variables, "URL="+secured, "AUTHORITIES="+s.authorities)
	}
	client, err := start(l.subjectCPUs, filepath.Join(b.bin, s.binary), s.arguments, variables)
	if err != nil {
		return turn{}, err
	}
	defer client.end()
	var output bytes.Buffer
	copied := make(chan struct{})
	go func() {
		_, _ = io.Copy(&output, client.stdout)
		close(copied)
	}()

	if err := connected(url, int64(l.clients), server, client); err != nil {
		return turn{}, err
	}
	time.Sleep(settle)
	t, err := b.measure(client, url, l)
	if err != nil {
		return turn{}, err
	}
	if !s.endless {
		client.wait(30 * time.Second)
	}
	client.end()
	<-copied
	t.output = output.String()
	if t.deliveries == 0 {
		return t, fmt.Errorf("no deliveries; it printed %q and %q", t.output, client.complaints)
	}
	return t, nil
}

// startServer starts the scripted server, which the caller ends. It returns the server's URL, and its TLS URL if the
// subject requires one.
func (b bench) startServer(s subject, l load) (server *process, url, secured string, err error) {
	arguments := l.server
	if s.authorities != "" {
		arguments = slices.Concat(arguments, []string{"-tls", s.authorities})
	}
	if s.endless {
		arguments = slices.Concat(arguments, l.source)
	}
	server, err = start(l.serverCPUs, filepath.Join(b.bin, "scripted"), arguments, nil)
	if err != nil {
		return nil, "", "", err
	}
	line, err := bufio.NewReader(server.stdout).ReadString('\n')
	if err != nil {
		server.end()
		return nil, "", "", fmt.Errorf("scripted server: %w", err)
	}
	url, secured, _ = strings.Cut(strings.TrimSpace(line), " ")
	return server, url, secured, nil
}

// measure waits for one window and returns the clients' cost in it.
func (b bench) measure(client *process, url string, l load) (turn, error) {
	before, err := counts(url)
	if err != nil {
		return turn{}, err
	}
	cpu, began := client.cpu(), time.Now()
	time.Sleep(b.window)
	after, err := counts(url)
	if err != nil {
		return turn{}, err
	}
	return turn{
		cpu: client.cpu() - cpu, deliveries: after.Deliveries - before.Deliveries,
		memory: client.memory(), clients: l.clients, offered: l.offered * time.Since(began).Seconds(),
	}, nil
}

// connected waits until the server has that many connections. It fails as soon as one of the programs has ended.
func connected(url string, clients int64, programs ...*process) error {
	for deadline := time.Now().Add(connectPatience); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if c, err := counts(url); err == nil && c.Connections >= clients {
			return nil
		}
		for _, p := range programs {
			if p.ended() {
				return fmt.Errorf("%s ended before %d clients were connected: %s", p.command.Path, clients, p.complaints)
			}
		}
	}
	return fmt.Errorf("%d clients did not connect within %s", clients, connectPatience)
}

func counts(url string) (c scripted.Counts, err error) {
	url = strings.Replace(url, "ws://", "http://", 1)
	response, err := http.Get(url + "/counts") //nolint:noctx // loopback, our own server
	if err != nil {
		return c, err
	}
	defer func() { _ = response.Body.Close() }()
	return c, json.NewDecoder(response.Body).Decode(&c)
}

// process is a program that this run started.
type process struct {
	command    *exec.Cmd
	stdout     io.Reader
	complaints *bytes.Buffer // standard error; complete once done
	done       chan struct{}
}

func start(cpus []int, path string, arguments, environment []string) (*process, error) {
	command := exec.Command(path, arguments...)
	command.Env = append(os.Environ(), environment...)
	complaints := &bytes.Buffer{}
	command.Stderr = complaints
	stdout, writer, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	command.Stdout = writer
	command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := pinned(cpus, command.Start); err != nil {
		return nil, err
	}
	_ = writer.Close()
	p := &process{command, stdout, complaints, make(chan struct{})}
	go func() {
		_ = command.Wait()
		close(p.done)
	}()
	return p, nil
}

// pinned calls start while this thread may use only those CPUs: a child inherits them from its first instruction.
func pinned(cpus []int, start func() error) error {
	if cpus == nil {
		return start()
	}
	var before, wanted unix.CPUSet
	if err := unix.SchedGetaffinity(0, &before); err != nil {
		return err
	}
	for _, cpu := range cpus {
		wanted.Set(cpu)
	}
	if err := unix.SchedSetaffinity(0, &wanted); err != nil {
		return err
	}
	defer func() { _ = unix.SchedSetaffinity(0, &before) }()
	return start()
}

// ended reports whether the program is over. Its complaints are complete then.
func (p *process) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

func (p *process) wait(patience time.Duration) {
	select {
	case <-p.done:
	case <-time.After(patience):
	}
}

func (p *process) end() {
	_ = p.command.Process.Signal(syscall.SIGTERM)
	p.wait(5 * time.Second)
	_ = p.command.Process.Kill()
	<-p.done
}

// cpu returns the CPU time of the whole process, from its CPU-time clock (clock_getcpuclockid(3)).
func (p *process) cpu() time.Duration {
	var t unix.Timespec
	_ = unix.ClockGettime(int32(^p.command.Process.Pid<<3|2), &t)
	return time.Duration(t.Nano())
}

// memory returns the resident set in bytes.
func (p *process) memory() int64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", p.command.Process.Pid))
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(text))
	pages, err := strconv.ParseInt(fields[1], 10, 64)
	if err != nil {
		return 0
	}
	return pages * int64(os.Getpagesize())
}
