// Command faults runs a server and makes it worse in a known way, to measure whether the judge notices:
//
//	faults -burn 0.10 -- node src/server.js     a tenth more CPU than the server itself uses
//	faults -leak 1000000 -- ...                 a megabyte more memory every second
//	faults -proxy -delay 2ms -- ...             everything that it sends comes 2 ms later
//	faults -proxy -loss 0.005 -- ...            one in 200 of its messages never comes
//
// Without a fault it is the base arm: the same process, and the same proxy, doing nothing. It is part of the server's
// process tree, so what it uses counts as the server's. It forwards SIGTERM to the server, and exits with the server's
// exit code.
package main

import (
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"syscall"
	"time"
)

const exitUsage = 2

type faults struct {
	burn  float64
	leak  int64
	proxy bool
	delay time.Duration
	loss  float64
}

func main() {
	code, err := run()
	if err != nil {
		fmt.Fprintln(os.Stderr, "faults:", err)
	}
	os.Exit(code)
}

func run() (int, error) {
	var f faults
	flag.Float64Var(&f.burn, "burn", 0, "CPU to use, as a share of what the server uses")
	flag.Int64Var(&f.leak, "leak", 0, "bytes to take every second and never give back")
	flag.BoolVar(&f.proxy, "proxy", false, "stand between the server and its clients")
	flag.DurationVar(&f.delay, "delay", 0, "how much later what the server sends goes on")
	flag.Float64Var(&f.loss, "loss", 0, "share of the server's messages that are dropped")
	flag.Parse()
	if flag.NArg() == 0 || f.burn < 0 || f.leak < 0 || f.delay < 0 || f.loss < 0 || f.loss > 1 {
		return exitUsage, errors.New("usage: faults [flags] -- command [argument ...]; see -help")
	}
	if !f.proxy && (f.delay > 0 || f.loss > 0) {
		return exitUsage, errors.New("-delay and -loss need -proxy")
	}
	server := exec.Command(flag.Arg(0), flag.Args()[1:]...)
	server.Stdout, server.Stderr, server.Env = os.Stdout, os.Stderr, os.Environ()
	server.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if f.proxy {
		behind, err := f.stand(os.Getenv("PORT"))
		if err != nil {
			return 1, err
		}
		server.Env = append(server.Env, "PORT="+strconv.Itoa(behind))
	}
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGTERM, syscall.SIGINT)
	if err := server.Start(); err != nil {
		return 1, err
	}
	go func() {
		for s := range asked {
			_ = server.Process.Signal(s)
		}
	}()
	if f.burn > 0 {
		go burn(server.Process.Pid, f.burn)
	}
	if f.leak > 0 {
		go leak(f.leak)
	}
	err := server.Wait()
	var ended *exec.ExitError
	if err == nil || errors.As(err, &ended) {
		return server.ProcessState.ExitCode(), nil
	}
	return 1, err
}

// stand listens on the server's port and returns the port for the server itself.
func (f *faults) stand(port string) (int, error) {
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	behind := free.Addr().(*net.TCPAddr).Port
	_ = free.Close()
	front, err := net.Listen("tcp", ":"+port)
	if err != nil {
		return 0, err
	}
	go f.accept(front, fmt.Sprintf("127.0.0.1:%d", behind))
	return behind, nil
}
