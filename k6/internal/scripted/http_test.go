package scripted

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pushbench/pushbench/k6/internal/http1"
	"github.com/pushbench/pushbench/k6/internal/sse"
)

func startHTTP(t *testing.T, faults HTTPFaults) *HTTPServer {
	t.Helper()
	server, err := StartHTTP("127.0.0.1:0", faults)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	return server
}

// got is what a client received of one response.
type got struct {
	status   int
	location string
	body     string
	ids      []int // ids of the tokens
	text     string
	times    []time.Duration // of the tokens and the end, since the request
	err      error           // of the connection
}

// client is one connection.
type client struct {
	conn   net.Conn
	reader http1.Reader
	rest   []byte // read, but not interpreted yet
	buffer []byte
}

func connect(t *testing.T, server *HTTPServer) *client {
	t.Helper()
	conn, err := net.Dial("tcp", server.listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return &client{conn: conn, buffer: make([]byte, 4096)}
}

// ask sends a request and receives the response.
func (c *client) ask(t *testing.T, method, target, body string, fields ...http1.Field) got {
	t.Helper()
	request := http1.Request{Method: method, Target: target, Host: "scripted", Fields: fields, Body: []byte(body)}
	text, err := request.Append(nil)
	if err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	if _, err := c.conn.Write(text); err != nil {
		return got{err: err}
	}
	return c.receive(t, begin)
}

// receive receives the next response.
func (c *client) receive(t *testing.T, begin time.Time) (answer got) {
	t.Helper()
	var events sse.Reader
	for {
		event, n, err := c.reader.Next(c.rest)
		if err != nil {
			t.Fatal(err)
		}
		c.rest = c.rest[n:]
		switch event.Kind {
		case http1.Header:
			answer.status, answer.location = c.reader.Status(), string(http1.Value(event.Data, "Location"))
		case http1.Body:
			answer.body += string(event.Data)
			answer.tokens(t, &events, event.Data, time.Since(begin))
		case http1.End:
			answer.times = append(answer.times, time.Since(begin))
			return answer
		case http1.Nothing:
			size, err := c.conn.Read(c.buffer)
			c.rest = c.buffer[:size]
			if err == io.EOF {
				if event, err := c.reader.Close(); err == nil && event.Kind == http1.End {
					answer.times = append(answer.times, time.Since(begin))
					return answer
				}
			}
			if answer.err = err; err != nil {
				return answer
			}
		}
	}
}

// tokens takes the tokens of a piece of the body.
func (g *got) tokens(t *testing.T, events *sse.Reader, body []byte, now time.Duration) {
	t.Helper()
	for {
		event, n, found, err := events.Next(body)
		if err != nil {
			t.Fatal(err)
		}
		if body = body[n:]; !found {
			return
		}
		id, err := strconv.Atoi(string(event.ID))
		if err != nil {
			t.Fatal(err)
		}
		g.ids, g.text, g.times = append(g.ids, id), g.text+string(event.Data), append(g.times, now)
	}
}

// streams requests that many streams, one after the other.
func streams(t *testing.T, server *HTTPServer, n int) (answers []got) {
	t.Helper()
	var c *client
	for range n {
		if c == nil {
			c = connect(t, server)
		}
		answer := c.ask(t, "GET", "/stream", "")
		if answers = append(answers, answer); !c.reader.KeepAlive() || answer.err != nil {
			c = nil
		}
	}
	return answers
}

// seen counts the faults in the tokens of streams as their client observes them.
func seen(answers []got) (missing, repeated, swapped int64) {
	for _, answer := range answers {
		had, highest := map[int]bool{}, -1
		for _, id := range answer.ids {
			switch {
			case had[id]:
				repeated++
			case id < highest:
				swapped++
			}
			had[id], highest = true, max(id, highest)
		}
		missing += int64(len([]rune(Text)) - len(had))
	}
	return missing, repeated, swapped
}

func TestAStreamIsTheText(t *testing.T) {
	t.Parallel()
	for name, faults := range map[string]HTTPFaults{
		"chunks": {}, "parts": {InParts: true}, "until the close": {UntilClose: true},
	} {
		server := startHTTP(t, faults)
		for i, answer := range streams(t, server, 3) {
			if answer.text != Text || answer.status != 200 || answer.err != nil || answer.ids[0] != 0 {
				t.Errorf("%s: stream %d: %d, %q, %v", name, i, answer.status, answer.text, answer.err)
			}
		}
		want := HTTPCounts{Exchanges: 3, Streams: 3, Tokens: int64(3 * len([]rune(Text)))}
		if did := server.Counts(); did != want {
			t.Errorf("%s: %+v, expected %+v", name, did, want)
		}
	}
}

func TestAStreamGoesOnAfterTheLastID(t *testing.T) {
	t.Parallel()
	c := connect(t, startHTTP(t, HTTPFaults{}))
	tokens := []rune(Text)
	for _, last := range []int{0, 5, len(tokens) - 1, 10 * len(tokens)} {
		answer := c.ask(t, "GET", "/stream", "", http1.Field{Name: "Last-Event-ID", Value: strconv.Itoa(last)})
		if want := string(tokens[min(last+1, len(tokens)):]); answer.text != want {
			t.Errorf("after %d: %q, expected %q", last, answer.text, want)
		}
	}
}

func TestTokensAreDroppedRepeatedAndSwappedAsOftenAsIsCounted(t *testing.T) {
	t.Parallel()
	for _, faults := range []HTTPFaults{
		{DropEvery: 7}, {RepeatEvery: 7}, {SwapEvery: 7}, {DropEvery: 3, RepeatEvery: 5, SwapEvery: 2}, {SwapEvery: 1},
		{DropEvery: 1}, {CutEvery: 2}, {ResetEvery: 2},
	} {
		server := startHTTP(t, faults)
		answers := streams(t, server, 5)
		missing, repeated, swapped := seen(answers)
		did := server.Counts()
		half := int64(len([]rune(Text)) - len([]rune(Text))/2)
		if want := did.DroppedTokens + (did.Cut+did.Resets)*half; missing != want {
			t.Errorf("%+v: %d missing, expected %d", faults, missing, want)
		}
		if repeated != did.RepeatedTokens || swapped != did.SwappedTokens {
			t.Errorf("%+v: %d repeated and %d swapped, expected %+v", faults, repeated, swapped, did)
		}
		if missing+repeated+swapped == 0 {
			t.Errorf("%+v: nothing was wrong, so nothing was tested", faults)
		}
		for i, answer := range answers {
			if reset := hit(int64(i+1), faults.ResetEvery); errors.Is(answer.err, syscall.ECONNRESET) != reset {
				t.Errorf("%+v: stream %d: %v", faults, i, answer.err)
			}
		}
	}
}

func TestWhatIsDelayedComesLateAndNothingBefore(t *testing.T) {
	t.Parallel()
	const late, attempts = 50 * time.Millisecond, 5 // a disturbed machine may cause the same delay
	for name, c := range map[string]struct {
		faults HTTPFaults
		place  int // index in times of what is late
	}{
		"first token": {HTTPFaults{FirstDelay: late}, 0},
		"the answer":  {HTTPFaults{Delay: late}, 0},
		"a request":   {HTTPFaults{LateEvery: 1, Late: late}, 0},
		"one token":   {HTTPFaults{LateTokenEvery: 100, LateToken: late}, 99},
		"the end":     {HTTPFaults{EndDelay: late}, len([]rune(Text))},
		"a stall":     {HTTPFaults{StallFor: late}, 0},
	} {
		punctual := false
		for range attempts {
			server := startHTTP(t, c.faults)
			server.Arm(time.Now())
			answer := streams(t, server, 1)[0]
			if len(answer.times) != len([]rune(Text))+1 {
				t.Fatalf("%s: %d tokens", name, len(answer.times)-1)
			}
			if at := answer.times[c.place]; at < late-time.Millisecond { // the request is sent after Arm
				t.Errorf("%s: after %v, expected %v", name, at, late)
			}
			if punctual = c.place == 0 || answer.times[c.place-1] < late; punctual {
				break
			}
		}
		if !punctual {
			t.Errorf("%s: what came before was late, too", name)
		}
	}
}

func TestEveryTokenIsPaced(t *testing.T) {
	t.Parallel()
	answer := streams(t, startHTTP(t, HTTPFaults{Gap: time.Millisecond}), 1)[0]
	for i, at := range answer.times[:len(answer.times)-1] {
		if want := time.Duration(i) * time.Millisecond; at < want {
			t.Errorf("token %d came after %v, expected %v at least", i, at, want)
		}
	}
}

func TestWhatIsLateIsCounted(t *testing.T) {
	t.Parallel()
	server := startHTTP(t, HTTPFaults{LateEvery: 2, LateTokenEvery: 7})
	streams(t, server, 5)
	if did, want := server.Counts(), int64(5*len([]rune(Text))/7); did.Late != 2 || did.LateTokens != want {
		t.Errorf("%+v, expected 2 late and %d late tokens", did, want)
	}
}

func TestAStallHoldsRequestsAndStreams(t *testing.T) {
	t.Parallel()
	const begin, length, slack = 20 * time.Millisecond, 50 * time.Millisecond, 5 * time.Millisecond
	server := startHTTP(t, HTTPFaults{StallAt: begin, StallFor: length, FirstDelay: begin + slack})
	c := connect(t, server)
	server.Arm(time.Now())
	stream := streams(t, server, 1)[0] // has begun when the server stalls
	if at := stream.times[0]; at < begin+length-slack {
		t.Errorf("the first token came after %v, expected %v", at, begin+length)
	}
	server.Arm(time.Now().Add(-begin))
	if answer := c.ask(t, "GET", "/post/1", ""); answer.times[0] < length-slack {
		t.Errorf("the answer took %v", answer.times[0])
	}
}

func TestPartsOfAnEventAreChunks(t *testing.T) {
	t.Parallel()
	c := connect(t, startHTTP(t, HTTPFaults{InParts: true}))
	last := strconv.Itoa(len([]rune(Text)) - 2) // one token is left
	request := "GET /stream HTTP/1.1\r\nHost: a\r\nLast-Event-ID: " + last + "\r\n\r\n"
	if _, err := io.WriteString(c.conn, request); err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("7\r\nid:%d\n\r\n8\r\ndata: .\n\r\n1\r\n\n\r\n0\r\n\r\n", len([]rune(Text))-1)
	var text []byte
	for !bytes.HasSuffix(text, []byte("0\r\n\r\n")) {
		n, err := c.conn.Read(c.buffer)
		if err != nil {
			t.Fatal(err)
		}
		text = append(text, c.buffer[:n]...)
	}
	if _, body, _ := strings.Cut(string(text), "\r\n\r\n"); body != want {
		t.Errorf("%q, expected %q", body, want)
	}
}

func TestPostsMakeRows(t *testing.T) {
	t.Parallel()
	server := startHTTP(t, HTTPFaults{})
	c := connect(t, server)
	for i := range 3 {
		row := fmt.Sprintf(`{"title":"%d","content":"a"}`, i)
		made := c.ask(t, "POST", "/post", row)
		if want := fmt.Sprintf("/post/%d", i+1); made.status != 201 || made.location != want {
			t.Fatalf("%+v, expected %s", made, want)
		}
		if read := c.ask(t, "GET", made.location, ""); read.status != 200 || read.body != row {
			t.Errorf("%+v, expected %s", read, row)
		}
	}
	for target, want := range map[string]int{"/post/4": 404, "/post/x": 404, "/": 404} {
		if read := c.ask(t, "GET", target, ""); read.status != want {
			t.Errorf("%s: %d, expected %d", target, read.status, want)
		}
	}
	if bad := c.ask(t, "POST", "/post", "no JSON"); bad.status != 400 || server.Counts().Rows != 3 {
		t.Errorf("%+v, %+v", bad, server.Counts())
	}
}

func TestPostsGoWrongAsOftenAsIsCounted(t *testing.T) {
	t.Parallel()
	server := startHTTP(t, HTTPFaults{PhantomEvery: 3, TwiceEvery: 5, RefuseEvery: 7, ResetEvery: 11})
	var saw HTTPCounts
	for range 30 { // each on a connection of its own, so that an unsolicited answer affects no other
		c := connect(t, server)
		switch answer := c.ask(t, "POST", "/post", `{"title":"a"}`); {
		case answer.err != nil:
			saw.Resets++
		case answer.status == 503:
			saw.Refused++
		case answer.status == 201:
			saw.Rows++
			number, err := strconv.ParseInt(strings.TrimPrefix(answer.location, "/post/"), 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(server.Row(number), []byte(`{"title":"a"}`)) {
				saw.Rows--
				saw.Phantoms++
			}
			_ = c.conn.SetReadDeadline(time.Now().Add(10 * time.Millisecond))
			if second := c.receive(t, time.Now()); second.status == 201 {
				saw.Twice++
			}
		}
	}
	saw.Exchanges = 30
	if did := server.Counts(); saw != did {
		t.Errorf("saw %+v, expected %+v", saw, did)
	}
	if min(saw.Phantoms, saw.Refused, saw.Resets, saw.Twice) == 0 {
		t.Error("some fault was not tested")
	}
}

func TestAClientThatLeavesAStreamIsCounted(t *testing.T) {
	t.Parallel()
	server := startHTTP(t, HTTPFaults{Gap: time.Millisecond})
	c := connect(t, server)
	if _, err := io.WriteString(c.conn, "GET /stream HTTP/1.1\r\nHost: a\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	_ = c.conn.Close()
	for deadline := time.Now().Add(5 * time.Second); server.Counts().Left == 0; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%+v", server.Counts())
		}
	}
}

func TestTheCountsAreOfTheOtherConnections(t *testing.T) {
	t.Parallel()
	server := startHTTP(t, HTTPFaults{})
	streams(t, server, 2)
	connect(t, server).ask(t, "POST", "/post", "{}")
	want := fmt.Sprintf(`{"Connections":2,"Deliveries":%d,`, 2*len([]rune(Text))+1)
	if answer := connect(t, server).ask(t, "GET", "/counts", ""); !strings.HasPrefix(answer.body, want) {
		t.Errorf("%s, expected %s", answer.body, want)
	}
	if did := server.Counts(); did.Exchanges != 3 {
		t.Errorf("%+v, expected 3: a question for the counts is no exchange", did)
	}
}
