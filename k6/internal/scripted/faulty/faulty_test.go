package faulty

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pushbench/pushbench/k6/internal/parallel"
)

const (
	quiet  = 150 * time.Millisecond // after which nothing more arrives
	passed = 50 * time.Millisecond  // since the first client
)

func TestMain(m *testing.M) {
	parallel.Tests("16")
	m.Run()
}

// end is a connection as the server has it, and as its client reads it.
type end struct {
	net.Conn
	client net.Conn
	lines  *bufio.Reader
}

// server listens with faults; connect returns clients of the board with the given name.
func server(t *testing.T, faults string) (connect func(board string) end) {
	t.Helper()
	parsed, err := Parse(faults)
	if err != nil {
		t.Fatal(err)
	}
	plain, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := Listen(plain, parsed)
	t.Cleanup(func() { _ = l.Close() })
	return func(board string) end {
		t.Helper()
		client, err := net.Dial("tcp", plain.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		accepted, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = accepted.Close(); _ = client.Close() })
		e := end{accepted, client, bufio.NewReader(client)}
		e.say(t, upgraded+" Switching Protocols\n")
		e.say(t, fmt.Sprintf(`{"type":"joined","boardId":%q}`+"\n", board))
		return e
	}
}

func (e end) say(t *testing.T, line string) {
	t.Helper()
	if n, err := e.Write([]byte(line)); err != nil || n != len(line) {
		t.Fatal(n, err)
	}
}

// head reads everything before the first delivery.
func (e end) head(t *testing.T) end {
	t.Helper()
	for range 2 {
		if _, err := e.lines.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
	}
	return e
}

// heard returns the lines that arrive until the connection is quiet.
func (e end) heard(t *testing.T) (lines []string) {
	t.Helper()
	for {
		_ = e.client.SetReadDeadline(time.Now().Add(quiet))
		line, err := e.lines.ReadString('\n')
		if errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, io.EOF) {
			return lines
		}
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, line)
	}
}

func draw(sender string, seq int) string {
	return fmt.Sprintf(`{"type":"draw","boardId":"b","userId":%q,"seq":%d,"stroke":[[9,2]]}`+"\n", sender, seq)
}

func draws(sender string, seqs ...int) (lines []string) {
	for _, seq := range seqs {
		lines = append(lines, draw(sender, seq))
	}
	return lines
}

func TestContentAndOrder(t *testing.T) {
	t.Parallel()
	a := func(seqs ...int) []string { return draws("a", seqs...) }
	altered := strings.Replace(draw("a", 3), "[[9", "[[1", 1)
	for _, test := range []struct {
		faults     string
		sent, want []string
	}{
		{"", a(1, 2, 3, 4), a(1, 2, 3, 4)},
		{"-drop-every 3", a(1, 2, 3, 4), a(1, 2, 4)},
		{"-twice-every 3", a(1, 2, 3, 4), a(1, 2, 3, 3, 4)},
		{"-twice-every 3 -twice-above 1000", a(1, 2, 3, 4), a(1, 2, 3, 4)},
		{"-alter-every 3", a(1, 2, 3, 4), []string{draw("a", 1), draw("a", 2), altered, draw("a", 4)}},
		{"-swap-every 2", slices.Concat(a(1, 2), draws("b", 9), a(3)), slices.Concat(a(1), draws("b", 9), a(3, 2))},
		{"-overtake-every 2", slices.Concat(a(1, 2), draws("b", 9)), slices.Concat(a(1), draws("b", 9), a(2))},
		{"-overtake-every 2", a(1, 2, 3), a(1, 2, 3)}, // no other client draws
		{"-overtake-every 2", a(1, 2), a(1, 2)},
		{"-silent", a(1, 2), nil},
		{"-late-every 2 -late-by 20ms", a(1, 2, 3), a(1, 3, 2)},
	} {
		t.Run(test.faults, func(t *testing.T) {
			t.Parallel()
			e := server(t, test.faults)("b").head(t)
			for _, line := range test.sent {
				e.say(t, line)
			}
			if got := e.heard(t); !slices.Equal(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestADeliveryCrossesToAnotherBoard(t *testing.T) {
	t.Parallel()
	connect := server(t, "-cross-every 2")
	member, stranger := connect("b").head(t), connect("other").head(t)
	for seq := range 3 {
		member.say(t, draw("a", seq))
	}
	if got := member.heard(t); len(got) != 3 {
		t.Errorf("the member got %q", got)
	}
	if got := stranger.heard(t); !slices.Equal(got, draws("a", 1)) {
		t.Errorf("the stranger got %q", got)
	}
}

// took returns how long a delivery takes to arrive.
func (e end) took(t *testing.T) time.Duration {
	t.Helper()
	began := time.Now()
	e.say(t, draw("a", 1))
	_ = e.client.SetReadDeadline(began.Add(5 * time.Second))
	if _, err := e.lines.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	return time.Since(began)
}

func TestDelays(t *testing.T) {
	t.Parallel()
	for faults, least := range map[string]time.Duration{
		"":                                    0,
		"-delay 40ms":                         40 * time.Millisecond,
		"-slow-board 40ms":                    40 * time.Millisecond,
		"-aging 1s":                           40 * time.Millisecond, // after the 50 ms
		"-stall-at 20ms -stall-for 300ms":     40 * time.Millisecond,
		"-pause-every 400ms -pause-for 390ms": 40 * time.Millisecond,
	} {
		t.Run(faults, func(t *testing.T) {
			t.Parallel()
			e := server(t, faults)("b").head(t)
			time.Sleep(passed)
			if took := e.took(t); took < least || took > least+time.Second {
				t.Errorf("took %v, want %v", took, least)
			}
		})
	}
}

func TestOnlyTheFirstBoardIsSlow(t *testing.T) {
	t.Parallel()
	connect := server(t, "-slow-board 10s")
	connect("slow").head(t)
	if took := connect("b").head(t).took(t); took > time.Second {
		t.Errorf("took %v", took)
	}
}

func TestDelayedDeliveriesKeepTheirOrder(t *testing.T) {
	t.Parallel()
	e := server(t, "-delay 5ms")("b").head(t)
	for seq := range 100 {
		e.say(t, draw("a", seq))
	}
	e.say(t, "the end\n")
	got := e.heard(t)
	if len(got) != 101 || got[0] != draw("a", 0) || got[99] != draw("a", 99) || got[100] != "the end\n" {
		t.Errorf("got %d lines, the last %q", len(got), got[len(got)-1])
	}
}

func TestACloseFrameIsTheLastAndNothingBeforeItIsLost(t *testing.T) {
	t.Parallel()
	for _, faults := range []string{"", "-delay 30ms"} {
		t.Run(faults, func(t *testing.T) {
			t.Parallel()
			e := server(t, faults)("b").head(t)
			e.say(t, draw("a", 1))
			e.say(t, string([]byte{closeFrame, 0}))
			if faults != "" {
				_ = e.Close() // the server has written everything, but not everything is sent
			}
			_ = e.client.SetReadDeadline(time.Now().Add(5 * time.Second))
			if got, err := io.ReadAll(e.lines); err != nil || string(got) != draw("a", 1)+string([]byte{closeFrame, 0}) {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
}

func TestAServerWaitsForAReaderBehindADelay(t *testing.T) {
	t.Parallel()
	e, written := server(t, "-delay 1h")("b").head(t), make(chan struct{})
	go func() {
		defer close(written)
		for range 2 {
			_, _ = e.Write(append([]byte(draw("a", 1)), make([]byte, mostDelayed/2)...))
		}
	}()
	select {
	case <-written:
		t.Error("more than may be delayed was written")
	case <-time.After(quiet):
	}
}

func TestACapacityIsKept(t *testing.T) {
	t.Parallel()
	e, began := server(t, "-capacity 1000")("b").head(t), time.Now()
	for seq := range 101 {
		e.say(t, draw("a", seq))
	}
	if took := time.Since(began); took < 100*time.Millisecond || took > time.Second {
		t.Errorf("101 deliveries took %v", took)
	}
}

func TestConnections(t *testing.T) {
	t.Parallel()
	t.Run("beyond a number are refused", func(t *testing.T) {
		connect := server(t, "-refuse-beyond 1")
		first := connect("b").head(t)
		plain, err := net.Dial("tcp", first.LocalAddr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = plain.Close() }()
		accepted, err := first.Conn.(*conn).l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		_, _ = accepted.Write([]byte(upgraded + " Switching Protocols\n"))
		if answer, _ := io.ReadAll(plain); string(answer) != refusal {
			t.Errorf("answered %q", answer)
		}
	})
	t.Run("are accepted slowly", func(t *testing.T) {
		connect, began := server(t, "-accept-pause 30ms"), time.Now()
		connect("b")
		connect("b")
		if took := time.Since(began); took < 60*time.Millisecond {
			t.Errorf("took %v", took)
		}
	})
	t.Run("weigh", func(t *testing.T) {
		if weight := server(t, "-weight 20000")("b").Conn.(*conn).weight; len(weight) != 20000 {
			t.Errorf("weighs %d", len(weight))
		}
	})
}

func TestAClientTooManyEndsTheProcess(t *testing.T) {
	if os.Getenv("FAULTY_DIES") != "" {
		connect := server(t, "-die-at 2")
		connect("b")
		connect("b")
		return
	}
	child := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	child.Env = append(os.Environ(), "FAULTY_DIES=1")
	output, err := child.CombinedOutput()
	if err == nil || !strings.Contains(string(output), "faulty: died of client 2") {
		t.Errorf("%v: %s", err, output)
	}
}

func TestAMessageBurns(t *testing.T) {
	e := server(t, "-burn 20ms")("b")
	began := time.Now()
	_, _ = e.client.Write([]byte("x"))
	if _, err := e.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took < 20*time.Millisecond {
		t.Errorf("took %v", took)
	}
}

func TestTheCountOfTheSecondBefore(t *testing.T) {
	var r rate
	at := func(second int64) time.Time { return time.Unix(second, 0) }
	got := []int64{r.count(at(7)), r.count(at(7)), r.count(at(8)), r.count(at(9)), r.count(at(11))}
	if want := []int64{0, 0, 2, 1, 0}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestAWrongFaultIsAnError(t *testing.T) {
	for _, faults := range []string{"-drop-evry 3", "-delay 5", "-drop-every many"} {
		if _, err := Parse(faults); err == nil {
			t.Errorf("%s: accepted", faults)
		}
	}
}

func TestEverySettingOfTheCatalogueIsAFault(t *testing.T) {
	catalogue, err := os.ReadFile("catalogue.yml")
	if err != nil {
		t.Fatal(err)
	}
	settings := 0
	for line := range strings.Lines(string(catalogue)) {
		setting, found := strings.CutPrefix(strings.TrimSpace(line), "setting: ")
		if !found {
			continue
		}
		settings++
		if faults, err := Parse(setting); err != nil || faults == (Faults{}) {
			t.Errorf("%s: %v", setting, err)
		}
	}
	if settings == 0 {
		t.Error("no settings")
	}
}
