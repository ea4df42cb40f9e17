package main

import (
	"bytes"
	"io"
	"log"
	"math/rand/v2"
	"net"
	"time"

	"github.com/pushbench/pushbench/k6/internal/wire"
)

const (
	// sparedFrames is how many frames at the beginning of each connection are never lost: they acknowledge membership.
	sparedFrames = 4
	// underway is the maximum number of delayed reads of a connection.
	underway   = 4096
	bufferSize = 64 * 1024
)

// accept connects every incoming connection with the server at address.
func (f *faults) accept(front net.Listener, address string) {
	for {
		client, err := front.Accept()
		if err != nil {
			return
		}
		go f.connect(client, address)
	}
}

func (f *faults) connect(client net.Conn, address string) {
	server, err := net.Dial("tcp", address)
	if err != nil {
		_ = client.Close()
		return
	}
	go func() {
		_, _ = io.Copy(server, client)
		_ = server.(*net.TCPConn).CloseWrite()
	}()
	f.forward(client, server)
	_ = client.Close()
	_ = server.Close()
}

// chunk is the bytes of one read, and when to forward them.
type chunk struct {
	due   time.Time
	bytes []byte
}

// forward forwards the server's bytes, with delay and losses.
func (f *faults) forward(client io.Writer, server io.Reader) {
	if f.delay == 0 && f.loss == 0 {
		_, _ = io.Copy(client, server)
		return
	}
	chunks := make(chan chunk, underway)
	go func() {
		defer close(chunks)
		losing := losing{share: f.loss}
		buffer := make([]byte, bufferSize)
		for {
			n, err := server.Read(buffer)
			if n > 0 {
				chunks <- chunk{time.Now().Add(f.delay), bytes.Clone(losing.pass(buffer[:n]))}
			}
			if err != nil {
				return
			}
		}
	}()
	broken := false
	for c := range chunks { // to the end, or the reader would block for ever
		if broken {
			continue
		}
		time.Sleep(time.Until(c.due))
		_, err := client.Write(c.bytes)
		broken = err != nil
	}
}

// losing drops a share of the messages of a stream that becomes a WebSocket connection; other streams pass unchanged.
type losing struct {
	share   float64
	state   state
	pending []byte
	frames  int
}

type state int

const (
	inHead state = iota
	inFrames
	asItIs
)

// pass returns the bytes to forward. It holds an incomplete frame back until its end arrives.
func (l *losing) pass(came []byte) []byte {
	if l.share == 0 || l.state == asItIs {
		return came
	}
	l.pending = append(l.pending, came...)
	var on []byte
	if l.state == inHead {
		head := bytes.Index(l.pending, []byte("\r\n\r\n"))
		if head < 0 {
			return nil
		}
		head += 4
		on, l.pending, l.state = append(on, l.pending[:head]...), l.pending[head:], asItIs
		if bytes.HasPrefix(on, []byte("HTTP/1.1 101")) {
			l.state = inFrames
		}
	}
	for l.state == inFrames {
		frame, size, err := wire.Next(l.pending)
		if err != nil {
			log.Fatalf("faults: no message can be lost of this connection: %v", err) // compressed ones depend on each other
		}
		if size == 0 {
			return on
		}
		l.frames++
		data := frame.Final && (frame.Opcode == wire.Text || frame.Opcode == wire.Binary)
		if !data || l.frames <= sparedFrames || rand.Float64() >= l.share {
			on = append(on, l.pending[:size]...)
		}
		l.pending = l.pending[size:]
	}
	on = append(on, l.pending...)
	l.pending = nil
	return on
}
