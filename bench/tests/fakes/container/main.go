// A server as far as the docker driver sees one: /healthz, SIGTERM, and the misbehaviour that FAKE names.
//
// FAKE: "" | exits | mute (never healthy) | dies (soon after it is healthy) |
// eats (soon after it is healthy, all the memory it can get) | writes (needs a writable file system)
package main

import (
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	behaviour := os.Getenv("FAKE")
	fmt.Println("hello from the fake server")
	switch behaviour {
	case "exits":
		fmt.Fprintln(os.Stderr, "it cannot go on")
		os.Exit(3)
	case "writes":
		if err := os.WriteFile("/note", []byte("x"), 0o600); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(4)
		}
	}
	http.HandleFunc("/healthz", func(response http.ResponseWriter, _ *http.Request) {
		if behaviour == "mute" {
			response.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintf(response, `{"server": %q, "runtime": "go", "framework": %q}`, os.Getenv("FAKE_ID"), os.Getenv("SAID"))
		switch behaviour {
		case "dies":
			time.AfterFunc(500*time.Millisecond, func() { os.Exit(7) })
		case "eats":
			time.AfterFunc(100*time.Millisecond, eat)
		}
	})
	go func() { panic(http.ListenAndServe(":"+os.Getenv("PORT"), nil)) }()
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGTERM)
	<-ended
}

func eat() {
	var eaten [][]byte
	for {
		piece := make([]byte, 64<<20)
		for at := 0; at < len(piece); at += 4096 {
			piece[at] = 1
		}
		eaten = append(eaten, piece)
	}
}
