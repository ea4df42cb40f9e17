// Command plain is an ordinary client with gorilla/websocket, two goroutines per connection and the runtime's timers.
// It is an independent check of the latencies of k6/x/push, with which it shares no code. Its latencies count from the
// actual send, because the runtime's timers are up to a millisecond late. It reads the same environment as the
// scenario.
package main

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

// The steady window begins this long after the first client may connect, so that all clients can connect and the server
// can warm up.
const (
	ramp   = time.Second
	before = 4 * time.Second
	drain  = time.Second
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "plain:", err)
		os.Exit(1)
	}
}

func number(name string) int {
	n, err := strconv.Atoi(os.Getenv(name))
	if err != nil {
		fmt.Fprintf(os.Stderr, "plain: %s must be a number\n", name)
		os.Exit(2)
	}
	return n
}

func run() error {
	clients, board, seconds := number("CLIENTS"), number("BOARD_SIZE"), number("SECONDS")
	begin := time.Now().Add(before)
	w := window{begin, begin.Add(time.Duration(seconds) * time.Second)}
	latencies := make([][]time.Duration, clients)
	failures := make(chan error, clients)
	var all sync.WaitGroup
	for i := range clients {
		all.Go(func() {
			time.Sleep(ramp * time.Duration(i) / time.Duration(clients))
			found, err := play(w, i, fmt.Sprintf("b-%d", i/board),
				time.Second*time.Duration(i*7919%clients)/time.Duration(clients))
			if err != nil {
				failures <- err
			}
			latencies[i] = found
		})
	}
	all.Wait()
	close(failures)
	for err := range failures {
		return err
	}
	sorted := slices.Concat(latencies...)
	if len(sorted) == 0 {
		return fmt.Errorf("nothing was delivered")
	}
	slices.Sort(sorted)
	at := func(share float64) time.Duration {
		return sorted[int(share*float64(len(sorted)-1))].Truncate(time.Microsecond)
	}
	fmt.Printf("%d deliveries, delivery p50 %s p95 %s p99 %s\n", len(sorted), at(0.5), at(0.95), at(0.99))
	return nil
}

// window is the period of the messages whose latencies count.
type window struct{ begin, end time.Time }

// play is one client: it draws once a second from phase on and returns the latencies of what it received.
func play(w window, client int, board string, phase time.Duration) ([]time.Duration, error) {
	conn, response, err := websocket.DefaultDialer.Dial(os.Getenv("URL")+"/ws", nil)
	if err != nil {
		return nil, err
	}
	_ = response.Body.Close()
	defer func() { _ = conn.Close() }()
	join := fmt.Sprintf(`{"type":"join","boardId":%q,"userId":"u-%d"}`, board, client)
	if err := conn.WriteMessage(websocket.TextMessage, []byte(join)); err != nil {
		return nil, err
	}
	go draw(conn, w, client, board, phase)
	_ = conn.SetReadDeadline(w.end.Add(drain))
	var latencies []time.Duration
	for {
		_, text, err := conn.ReadMessage()
		if err != nil {
			return latencies, nil // the deadline has passed
		}
		if sent, ok := sentAt(text); ok && !sent.Before(w.begin) && sent.Before(w.end) {
			latencies = append(latencies, time.Since(sent))
		}
	}
}

func draw(conn *websocket.Conn, w window, client int, board string, phase time.Duration) {
	due := w.begin.Add(phase - 2*time.Second)
	for seq := 0; due.Before(w.end); seq++ {
		time.Sleep(time.Until(due))
		sent := time.Now()
		text := fmt.Sprintf(`{"type":"draw","boardId":%q,"userId":"u-%d","seq":%d,"sentAt":%d,`+
			`"stroke":[[512,384],[514,390]]}`,
			board, client, seq, sent.UnixMicro())
		if conn.WriteMessage(websocket.TextMessage, []byte(text)) != nil {
			return
		}
		due = due.Add(time.Second)
	}
}

func sentAt(text []byte) (time.Time, bool) {
	_, rest, found := bytes.Cut(text, []byte(`"sentAt":`))
	digits, _, ends := bytes.Cut(rest, []byte(","))
	microseconds, err := strconv.ParseInt(string(digits), 10, 64)
	return time.UnixMicro(microseconds), found && ends && err == nil
}
