// The location suite on net/http and gobwas/ws. Starts the server and stops it on SIGTERM.
package main

import (
	"context"
	"log"
	"net"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"syscall"
)

func main() {
	if workers, err := strconv.Atoi(os.Getenv("WORKERS")); err == nil {
		runtime.GOMAXPROCS(workers)
	}
	port := os.Getenv("PORT")
	if port == "" {
		port = "8080"
	}

	// Go would listen with MPTCP, which puts another layer between a client's write and its socket.
	var config net.ListenConfig
	config.SetMultipathTCP(false)
	listener, err := config.Listen(context.Background(), "tcp4", "0.0.0.0:"+port)
	if err != nil {
		log.Fatal(err)
	}

	terminated, _ := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	server := newServer()
	go func() {
		if err := server.serve(listener); err != nil {
			log.Fatal(err)
		}
	}()
	<-terminated.Done()
	server.stop()
}
