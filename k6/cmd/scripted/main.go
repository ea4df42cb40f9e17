// Command scripted runs a scripted server until it receives a signal to stop: of boards, with -http of streams and
// posts, with -games of typing games, or with -public of a public protocol. It prints its URL. With -tls it prints a
// second one, for TLS.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/pushbench/pushbench/k6/internal/scripted"
)

func main() {
	var faults scripted.Faults
	address := flag.String("listen", "127.0.0.1:0", "`address` to listen on")
	source := flag.Int("source", 0, "broadcast by itself what this number of `clients` would send")
	board := flag.Int("board", 10, "members of a board, with -source")
	flag.DurationVar(&faults.Delay, "delay", 0, "`time` before every delivery, with -http before every answer")
	flag.Int64Var(&faults.DropEvery, "drop-every", 0, "drop every `n`-th delivery")
	flag.Int64Var(&faults.DuplicateEvery, "duplicate-every", 0, "send every `n`-th delivery twice")
	flag.Int64Var(&faults.Capacity, "capacity", 0, "deliveries per second at most; what is beyond that queues")
	flag.Int64Var(&faults.Bytes, "bytes", 0, "the same in `bytes` of messages per second, instead of -capacity")
	flag.Int64Var(&faults.RefuseBeyond, "refuse-beyond", 0, "refuse connections once there are that many `clients`")
	flag.DurationVar(&faults.PauseEach, "pause-each", 0, "`time` before every delivery, for each connection")
	flag.DurationVar(&faults.Burn, "burn", 0, "CPU `time` of every delivery")
	flag.BoolVar(&faults.Silent, "silent", false, "acknowledge joins and deliver nothing")
	authorities := flag.String("tls", "", "also listen with TLS, and write the certificate to trust to this `file`")
	overHTTP := flag.Bool("http", false, "serve streams and posts instead of boards; -delay and -gap change them")
	games := flag.Bool("games", false, "serve typing games instead of boards; nothing changes them")
	public := flag.String("public", "", "serve a public protocol by the `name` of its example; nothing changes it")
	gap := flag.Duration("gap", 0, "`time` between two tokens, with -http")
	flag.Parse()
	var err error
	switch {
	case *games:
		err = runGames(*address)
	case *public != "":
		err = runPublic(*address, *public)
	case *overHTTP:
		err = runHTTP(*address, scripted.HTTPFaults{Delay: faults.Delay, Gap: *gap})
	default:
		err = run(*address, faults, *source, *board, *authorities)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "scripted:", err)
		os.Exit(1)
	}
}

func run(address string, faults scripted.Faults, source, board int, authorities string) error {
	server, err := scripted.Start(address, faults)
	if err != nil {
		return err
	}
	defer server.Close()
	server.Arm(time.Now())
	urls := server.URL()
	if authorities != "" {
		secured, err := server.Secure(authorities)
		if err != nil {
			return err
		}
		urls += " " + secured
	}
	fmt.Println(urls)
	if source > 0 {
		return server.Source(source, board, stopped())
	}
	<-stopped()
	return nil
}

func runHTTP(address string, faults scripted.HTTPFaults) error {
	server, err := scripted.StartHTTP(address, faults)
	if err != nil {
		return err
	}
	defer server.Close()
	server.Arm(time.Now())
	fmt.Println(server.URL())
	<-stopped()
	return nil
}

func runGames(address string) error {
	server, err := scripted.StartGames(address, scripted.GameFaults{})
	if err != nil {
		return err
	}
	defer server.Close()
	fmt.Println(server.URL())
	<-stopped()
	return nil
}

func runPublic(address, name string) error {
	server, err := scripted.StartPublic(address, name)
	if err != nil {
		return err
	}
	defer server.Close()
	fmt.Println(server.URL())
	<-stopped()
	return nil
}

// stopped returns a channel that is closed once this process receives a signal to stop.
func stopped() <-chan struct{} {
	signals, stop := make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	go func() {
		<-signals
		close(stop)
	}()
	return stop
}
