// Package clock reads the clock that dates the events of a load, and compares it with that of another machine.
package clock

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"golang.org/x/sys/unix"
)

const (
	exchanges = 8
	// patience is the timeout of one comparison, connecting included.
	patience = 2 * time.Second
	// idle is how long a server waits for the next question on a connection.
	idle = 10 * time.Second
	// most is how many connections a server answers at the same time.
	most = 64
)

// Monotonic returns CLOCK_MONOTONIC in microseconds: the same clock for every process of the machine.
func Monotonic() int64 {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &t)
	return t.Nano() / 1000
}

// CPU returns the CPU time that this process has used since it began, in microseconds over all its threads.
func CPU() int64 {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t)
	return t.Nano() / 1000
}

// Comparison is the relation of another machine's clock to this one's.
type Comparison struct {
	// At is the moment of the comparison by the local clock. All three values are in microseconds.
	At int64
	// Ahead is the other clock's lead. It is accurate to Within, which is half the time of a round trip.
	Ahead, Within int64
}

// Serve answers each byte on a connection with the time. It returns when the listener is closed.
func Serve(listener net.Listener) {
	free := make(chan struct{}, most)
	for {
		connection, err := listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			time.Sleep(10 * time.Millisecond) // for example, because no file descriptor is left
			continue
		}
		select {
		case free <- struct{}{}:
			go func() {
				defer func() { <-free }()
				answer(connection)
			}()
		default:
			_ = connection.Close()
		}
	}
}

func answer(connection net.Conn) {
	defer func() { _ = connection.Close() }()
	question, reply := make([]byte, 1), make([]byte, 8)
	for {
		_ = connection.SetDeadline(time.Now().Add(idle))
		if _, err := io.ReadFull(connection, question); err != nil {
			return
		}
		binary.BigEndian.PutUint64(reply, uint64(Monotonic()))
		if _, err := connection.Write(reply); err != nil {
			return
		}
	}
}

// Compare asks the server at an address several times, and returns the result of the fastest answer.
func Compare(address string) (Comparison, error) {
	connection, err := net.DialTimeout("tcp", address, patience)
	if err != nil {
		return Comparison{}, err
	}
	defer func() { _ = connection.Close() }()
	_ = connection.SetDeadline(time.Now().Add(patience))
	var best Comparison
	reply := make([]byte, 8)
	for i := range exchanges {
		before := Monotonic()
		if _, err := connection.Write([]byte{0}); err != nil {
			return Comparison{}, err
		}
		if _, err := io.ReadFull(connection, reply); err != nil {
			return Comparison{}, fmt.Errorf("no time from %s: %w", address, err)
		}
		after := Monotonic()
		// Half of the round trip, plus the microsecond that both readings may have lost.
		if within := (after-before)/2 + 1; i == 0 || within < best.Within {
			ahead := int64(binary.BigEndian.Uint64(reply)) - (before+after)/2
			best = Comparison{At: after, Ahead: ahead, Within: within}
		}
	}
	return best, nil
}
