// Command scripted runs the scripted whiteboard server until it is told to stop. It prints its URL.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/pushbench/pushbench/k6/internal/scripted"
)

func main() {
	address := flag.String("listen", "127.0.0.1:0", "address to listen on")
	delay := flag.Duration("delay", 0, "delay of every delivery")
	drop := flag.Int64("drop-every", 0, "drop every n-th delivery")
	flag.Parse()
	server, err := scripted.Start(*address, scripted.Faults{Delay: *delay, DropEvery: *drop})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(server.URL())
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM, syscall.SIGINT)
	<-stop
	server.Close()
}
