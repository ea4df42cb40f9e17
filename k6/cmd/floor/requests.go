package main

import (
	"bytes"
	"fmt"
	"net"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pushbench/pushbench/k6/internal/http1"
)

// streams has each client request a new stream once the last one has ended.
func (f *floor) streams(url string, clients int) error {
	request, err := f.requests(url, clients, http1.Request{Method: "GET", Target: "/stream"})
	if err != nil {
		return err
	}
	f.mark = []byte("data:")
	end := []byte("0\r\n\r\n")
	f.then = func(socket int, data []byte) {
		if bytes.HasSuffix(data, end) {
			call(unix.SYS_WRITE, socket, request)
		}
	}
	for _, socket := range f.sockets {
		call(unix.SYS_WRITE, socket, request)
		time.Sleep(time.Second / time.Duration(clients)) // otherwise all tokens would come at once
	}
	return nil
}

// posts has the clients post round-robin, at a total rate.
func (f *floor) posts(url string, clients, rate int) error {
	request, err := f.requests(url, clients, http1.Request{
		Method: "POST", Target: "/post", Body: []byte(`{"title":"post 1","content":"what a client wrote at 12345678 us"}`),
	})
	if err != nil {
		return err
	}
	f.mark = []byte("HTTP/1.1 201")
	if f.timer, err = unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_CLOEXEC); err != nil {
		return err
	}
	pause := unix.NsecToTimespec(int64(time.Second) / int64(rate))
	if err := unix.TimerfdSettime(f.timer, 0, &unix.ItimerSpec{Interval: pause, Value: pause}, nil); err != nil {
		return err
	}
	next := 0
	f.tick = func(expired uint64) {
		for range expired {
			call(unix.SYS_WRITE, f.sockets[next%clients], request)
			next++
		}
	}
	return f.watch(f.timer)
}

// requests connects the clients, and returns the request that all of them send.
func (f *floor) requests(url string, clients int, request http1.Request) ([]byte, error) {
	request.Host = strings.TrimPrefix(url, "http://")
	for range clients {
		conn, err := net.Dial("tcp", request.Host)
		if err != nil {
			return nil, err
		}
		err = f.adopt(conn.(*net.TCPConn))
		_ = conn.Close()
		if err != nil {
			return nil, err
		}
	}
	text, err := request.Append(nil)
	if err != nil {
		return nil, fmt.Errorf("request: %w", err)
	}
	return text, nil
}
