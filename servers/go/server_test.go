package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/gobwas/ws"
	"github.com/gobwas/ws/wsutil"
)

// startServer starts a server and returns its address. At its end the test waits until every client is gone.
func startServer(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := newServer()
	go func() { _ = server.serve(listener) }()
	t.Cleanup(server.stop)
	return listener.Addr().String()
}

type user struct {
	*testing.T
	net.Conn
}

// newUser returns a member of the board "b".
func newUser(t *testing.T, address, id string) user {
	t.Helper()
	conn, _, _, err := ws.Dial(context.Background(), "ws://"+address+"/ws")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	u := user{t, conn}
	u.say(fmt.Sprintf(`{"type":"join","boardId":"b","userId":%q}`, id))
	if joined, err := u.hear(); err != nil || !strings.Contains(joined, `"joined"`) {
		t.Fatal(joined, err)
	}
	return u
}

func (u user) say(text string) {
	u.Helper()
	if err := wsutil.WriteClientText(u, []byte(text)); err != nil {
		u.Fatal(err)
	}
}

// hear fails unless a message arrives promptly.
func (u user) hear() (string, error) {
	_ = u.SetReadDeadline(time.Now().Add(5 * time.Second))
	text, err := wsutil.ReadServerText(u)
	return string(text), err
}

func largeDraw(seq int) string {
	return fmt.Sprintf(`{"type":"draw","boardId":"b","userId":"u","seq":%d,"sentAt":0,"stroke":[[1,2]],"pad":%q}`,
		seq, strings.Repeat("x", 60_000))
}

// More than the kernel's socket buffers and the server's queue hold together.
const draws = 300

func TestASlowReaderIsDisconnectedAndDelaysNobody(t *testing.T) {
	address := startServer(t)
	sender, slow := newUser(t, address, "sender"), newUser(t, address, "slow")
	for seq := range draws {
		sender.say(largeDraw(seq))
		if echo, err := sender.hear(); err != nil || echo != largeDraw(seq) {
			t.Fatalf("draw %d: %v", seq, err)
		}
	}
	for {
		draw, err := slow.hear()
		if errors.Is(err, os.ErrDeadlineExceeded) || draw == largeDraw(draws-1) {
			t.Fatal("not disconnected")
		}
		if err != nil {
			return
		}
	}
}

func TestABurstDisconnectsNoMemberThatReads(t *testing.T) {
	address := startServer(t)
	sender, member := newUser(t, address, "sender"), newUser(t, address, "member")
	for _, reader := range []user{sender, member} {
		t.Cleanup(reads(reader))
	}
	for seq := range draws {
		sender.say(largeDraw(seq))
	}
}

// reads begins to read every draw in order, and returns a function that waits for the last one.
func reads(u user) (wait func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		for seq := range draws {
			if text, err := u.hear(); err != nil || text != largeDraw(seq) {
				u.Errorf("draw %d: %v", seq, err)
				return
			}
		}
	}()
	return func() { <-done }
}
