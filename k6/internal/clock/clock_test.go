package clock

import (
	"encoding/binary"
	"io"
	"net"
	"testing"
	"time"
)

func listen(t *testing.T) net.Listener {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	return listener
}

func TestTheOwnClockIsNotAhead(t *testing.T) {
	listener := listen(t)
	go Serve(listener)
	found, err := Compare(listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	if found.Within < 1 || max(found.Ahead, -found.Ahead) > found.Within {
		t.Errorf("one clock is %d µs ahead of itself, within %d", found.Ahead, found.Within)
	}
}

// later answers with a clock that is ahead; its first answer is slow, and wrong by an hour.
func later(listener net.Listener, ahead int64) {
	connection, err := listener.Accept()
	if err != nil {
		return
	}
	defer func() { _ = connection.Close() }()
	question, wrong := make([]byte, 1), time.Hour.Microseconds()
	for {
		if _, err := io.ReadFull(connection, question); err != nil {
			return
		}
		if wrong != 0 {
			time.Sleep(500 * time.Millisecond)
		}
		_, _ = connection.Write(binary.BigEndian.AppendUint64(nil, uint64(Monotonic()+ahead+wrong)))
		wrong = 0
	}
}

func TestTheFastestAnswerCounts(t *testing.T) {
	const ahead = -7_000_000
	listener := listen(t)
	go later(listener, ahead)
	found, err := Compare(listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	if wrong := found.Ahead - ahead; max(wrong, -wrong) > found.Within {
		t.Errorf("%d µs ahead, within %d; it is %d", found.Ahead, found.Within, ahead)
	}
}

func TestOneThatDoesNotAnswerIsAnError(t *testing.T) {
	listener := listen(t)
	go func() {
		if connection, err := listener.Accept(); err == nil {
			_ = connection.Close()
		}
	}()
	if found, err := Compare(listener.Addr().String()); err == nil {
		t.Errorf("found %v", found)
	}
}
