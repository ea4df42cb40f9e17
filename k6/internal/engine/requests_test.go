package engine

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"golang.org/x/sys/unix"

	"github.com/pushbench/pushbench/k6/internal/protocol"
	"github.com/pushbench/pushbench/k6/internal/schedule"
	"github.com/pushbench/pushbench/k6/internal/scripted"
)

// streams are clients that speak the same protocol: the built-in one, and that of a declaration. The same applies to
// posts.
var (
	streams = []string{"token-stream-sse", "declared token-stream"}
	posts   = []string{"posts-http", "declared posts"}
)

var tokensOfStream = int64(len([]rune(protocol.TokenText)))

// twoSeconds returns a stage in which all clients connect within one second, followed by a window of two seconds.
func twoSeconds(clients int) schedule.Schedule {
	return schedule.Schedule{
		Stages:       []schedule.Stage{{Clients: clients, RampSeconds: 0.5, SettleSeconds: 0.5, SteadySeconds: 2}},
		DrainSeconds: 3,
	}
}

// playRequests has clients make requests of a scripted server, and returns the reports of both sides.
func playRequests(
	t testing.TB, name string, pattern schedule.Pattern, clients int, faults scripted.HTTPFaults,
) (*Report, *Engine, scripted.HTTPCounts) {
	t.Helper()
	return playRequestsBy(t, twoSeconds(clients), name, pattern, faults)
}

// playRequestsBy is playRequests with another schedule, of one stage.
func playRequestsBy(
	t testing.TB, by schedule.Schedule, name string, pattern schedule.Pattern, faults scripted.HTTPFaults,
) (*Report, *Engine, scripted.HTTPCounts) {
	t.Helper()
	server, err := scripted.StartHTTP("127.0.0.1:0", faults)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	config := Config{
		URL: server.URL(), Protocol: name, Seed: 7, Schedule: by, Loops: 2,
		Groups: []schedule.Groups{{Size: 1, Pattern: pattern}},
	}
	if example, ok := strings.CutPrefix(name, "declared "); ok {
		declare(t, &config, example)
	} else if example, ok := strings.CutPrefix(name, "unnumbered "); ok {
		declare(t, &config, example)
		config.Declaration.Request.Stream.Number = ""
	}
	e, err := New(config)
	if err != nil {
		t.Fatal(err)
	}
	origin := time.Now()
	server.Arm(origin)
	e.Play(context.Background(), origin)
	return reportOf(t, e), e, server.Counts()
}

// inEach plays a truth test with each of these clients, which speak the same protocol.
func inEach(t *testing.T, names []string, test func(t testing.TB, name string)) {
	t.Helper()
	t.Parallel()
	for _, name := range names {
		t.Run(name, func(t *testing.T) { truthTest(t, func(t testing.TB) { test(t, name) }) })
	}
}

func atRate(rate float64) schedule.Pattern { return schedule.Pattern{Rate: rate} }

func TestClosedStreamsHaveTheDelaysOfTheirServer(t *testing.T) {
	t.Parallel()
	builtIn, declared := streams[0], streams[1]
	t.Run(builtIn, func(t *testing.T) { playTruthTest(t, func(t testing.TB) { closedStreams(t, builtIn) }) })
	t.Run(declared, func(t *testing.T) { truthTest(t, func(t testing.TB) { closedStreams(t, declared) }) })
}

func closedStreams(t testing.TB, name string) {
	t.Helper()
	faults := scripted.HTTPFaults{FirstDelay: 30 * time.Millisecond, EndDelay: 20 * time.Millisecond, InParts: true}
	report, e, did := playRequests(t, name, schedule.Patterns["closed"], 5, faults)
	stage, all := report.Stages[0], everything(e)
	if all.Sent != did.Streams || all.Received != did.Tokens || all.Lost() != 0 || all.Unsent != 0 {
		t.Errorf("%+v, the server made %+v", all, did)
	}
	first, last, gap := decode(t, stage.Histograms.First), decode(t, stage.Histograms.Last), decode(t,
		stage.Histograms.Gap)
	if p50 := first.ValueAtQuantile(50); p50 < 30_000 || p50 > 36_000 {
		t.Errorf("first token p50 %d us, expected 30 ms", p50)
	}
	if first.TotalCount() != stage.Messages.Sent || last.TotalCount() != stage.Messages.Sent ||
		gap.TotalCount() != stage.Messages.Sent*(tokensOfStream-1) {
		t.Errorf("%d first, %d last, %d gaps of %d streams", first.TotalCount(), last.TotalCount(),
			gap.TotalCount(),
			stage.Messages.Sent)
	}
	// 2 s; each takes 50 ms and its tokens
	if streams := stage.Messages.Due; streams < 5*20 || streams > 5*40 {
		t.Errorf("%d streams", streams)
	}
	if clients := stage.Clients; clients.Members != 5 || clients.Disconnects != 0 || clients.ConnectFailures != 0 {
		t.Errorf("%+v", clients)
	}
}

func TestPostsAtARateAreDueWhateverTheServerNeeds(t *testing.T) {
	inEach(t, posts, func(t testing.TB, name string) {
		report, e, did := playRequests(t, name, atRate(200), 40,
			scripted.HTTPFaults{Delay: 50 * time.Millisecond})
		stage, all := report.Stages[0], everything(e)
		if due := stage.Messages.Due; due < 398 || due > 402 || stage.Receipts.Received != due ||
			stage.Receipts.Lost != 0 {
			t.Errorf("%+v %+v, expected 400 due and answered", stage.Messages, stage.Receipts)
		}
		if all.Sent != did.Rows {
			t.Errorf("%d posts were sent, the server has %d", all.Sent, did.Rows)
		}
		if p50 := decode(t, stage.Histograms.Last).ValueAtQuantile(50); p50 < 50_000 || p50 > 58_000 {
			t.Errorf("response p50 %d us, expected 50 ms", p50)
		}
	})
}

func TestWhatFindsNoIdleClientIsLostAndCounted(t *testing.T) {
	truthTest(t, func(t testing.TB) {
		report, _, _ := playRequests(t, "posts-http", atRate(100), 10,
			scripted.HTTPFaults{Delay: 400 * time.Millisecond})
		stage := report.Stages[0] // 10 clients make 25 requests a second
		if m := stage.Messages; m.Due < 198 || m.Due > 202 || m.Sent < 38 || m.Sent > 56 || m.Unsent != m.Due-m.Sent {
			t.Errorf("%+v, expected about 50 of 200 sent", m)
		}
		if d := stage.Receipts; d.Lost != stage.Messages.Unsent || d.Received != stage.Messages.Sent {
			t.Errorf("%+v", d)
		}
	})
}

func TestAClientThatIsBusyWhenARequestIsDueMakesItLate(t *testing.T) {
	truthTest(t, func(t testing.TB) {
		pattern := schedule.Patterns["steady"]
		faults := scripted.HTTPFaults{StallAt: 1200 * time.Millisecond, StallFor: 1500 * time.Millisecond}
		report, _, _ := playRequests(t, "posts-http", pattern, 20, faults)
		stage := report.Stages[0]
		if stage.Messages.Due != 40 || stage.Receipts.Received != 40 {
			t.Errorf("%+v %+v: expected 40, all answered", stage.Messages, stage.Receipts)
		}
		// A client's first request that is due in the stall waits for its end, and a second one waits for the first.
		if waited := decode(t, stage.Histograms.Last); waited.Max() < 1_200_000 || waited.Max() > 1_600_000 {
			t.Errorf("longest response %d us, expected up to 1.5 s", waited.Max())
		}
		if late := decode(t, stage.Histograms.Lateness).Max(); late > 50_000 {
			t.Errorf("the generator was %d us late: that was the server", late)
		}
	})
}

func TestFaultsOfStreamsAreCountedExactly(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		faults scripted.HTTPFaults
		check  func(all counted, did scripted.HTTPCounts) bool
	}{
		"dropped": {scripted.HTTPFaults{DropEvery: 97}, func(all counted,
			did scripted.HTTPCounts) bool {
			return all.lost == did.DroppedTokens
		}},
		"repeated": {scripted.HTTPFaults{RepeatEvery: 97}, func(all counted,
			did scripted.HTTPCounts) bool {
			return all.duplicate == did.RepeatedTokens
		}},
		"swapped": {scripted.HTTPFaults{SwapEvery: 97}, func(all counted,
			did scripted.HTTPCounts) bool {
			return all.outOfOrder == did.SwappedTokens
		}},
		"cut": {scripted.HTTPFaults{CutEvery: 3}, func(all counted, did scripted.HTTPCounts) bool {
			return all.lost == did.Cut*(tokensOfStream-tokensOfStream/2)
		}},
		"refused": {scripted.HTTPFaults{RefuseEvery: 3}, func(all counted, did scripted.HTTPCounts) bool {
			return all.lost == did.Refused*tokensOfStream && all.disconnects == 0
		}},
		"reset": {scripted.HTTPFaults{ResetEvery: 3}, func(all counted, did scripted.HTTPCounts) bool {
			return all.lost == did.Resets*(tokensOfStream-tokensOfStream/2) && all.disconnects == did.Resets
		}},
		"until close": {scripted.HTTPFaults{UntilClose: true}, func(all counted, did scripted.HTTPCounts) bool {
			return all.lost == 0 && all.disconnects == 0 && did.Streams > 0
		}},
	} {
		for _, client := range streams {
			t.Run(name+", "+client, func(t *testing.T) {
				truthTest(t, func(t testing.TB) {
					c.faults.FirstDelay = 20 * time.Millisecond
					_, e, did := playRequests(t, client, schedule.Patterns["closed"], 5, c.faults)
					sum := everything(e)
					all := counted{sum.Lost(), sum.Duplicate, sum.OutOfOrder, e.gauges().Disconnects}
					if sum.Sent == 0 || sum.Sent != did.Streams+did.Refused || sum.Corrupt != 0 || !c.check(all, did) {
						t.Errorf("%+v, %+v, the server made %+v", all, sum, did)
					}
				})
			})
		}
	}
}

func TestWhatIsNotNumberedIsCountedAllTheSame(t *testing.T) {
	t.Parallel()
	for name, faults := range map[string]scripted.HTTPFaults{
		"dropped": {DropEvery: 97}, "repeated": {RepeatEvery: 97}, "cut": {CutEvery: 3},
	} {
		t.Run(name, func(t *testing.T) {
			truthTest(t, func(t testing.TB) {
				faults.FirstDelay = 20 * time.Millisecond
				_, e, did := playRequests(t, "unnumbered token-stream", schedule.Patterns["closed"], 5, faults)
				sum, cut := everything(e), did.Cut*(tokensOfStream-tokensOfStream/2)
				// A repeated token is one too many at the end of its stream.
				if sum.Sent == 0 || sum.Lost() != did.DroppedTokens+cut || sum.Corrupt != did.RepeatedTokens {
					t.Errorf("%+v, the server made %+v", sum, did)
				}
			})
		})
	}
}

// A single client takes the tokens in the order in which the server numbers them, so three of each stream are late.
func TestALateTokenIsOneLongGap(t *testing.T) {
	inEach(t, streams, func(t testing.TB, name string) {
		const late, slack = 30 * time.Millisecond, 8 * time.Millisecond
		faults := scripted.HTTPFaults{LateTokenEvery: tokensOfStream / 3, LateToken: late}
		report, _, did := playRequests(t, name, schedule.Patterns["closed"], 1, faults)
		stage := report.Stages[0]
		gap, first := decode(t, stage.Histograms.Gap), decode(t, stage.Histograms.First)
		long, begun := beyond(gap, late-slack), beyond(first, late-slack)
		if streams := stage.Messages.Sent; streams < 10 || long != 3*streams || begun != 0 {
			t.Errorf("%d long gaps in %d streams, %d of them begun late; the server made %+v", long, streams, begun,
				did)
		}
		// One of 71 gaps is long.
		low, high := (late - slack).Microseconds(), (late + slack).Microseconds()
		if p98, p99 := gap.ValueAtQuantile(98), gap.ValueAtQuantile(99); p98 > 3_000 || p99 < low || p99 > high {
			t.Errorf("gap p98 %d us, p99 %d us, expected none and %s", p98, p99, late)
		}
	})
}

// beyond counts the values of at least that length.
func beyond(of *hdrhistogram.Histogram, length time.Duration) (found int64) {
	for _, bar := range of.Distribution() {
		if bar.From >= length.Microseconds() {
			found += bar.Count
		}
	}
	return found
}

// The server that the client connects to never answers, or stops in the middle of an answer.
func TestAnAnswerThatIsNotCompleteInTimeIsLost(t *testing.T) {
	const twoTokens = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n" +
		"e\r\nid:0\ndata: P\n\n\r\n" + "e\r\nid:1\ndata: u\n\n\r\n"
	for name, c := range map[string]struct {
		protocol, answered string
		owed, came         int64
	}{
		"nothing": {"posts-http", "", 1, 0},
		"a part":  {"posts-http", "HTTP/1.1 201 Created\r\nContent-Length: 2\r\nLocation: /post/17\r\n\r\n{", 1, 0},
		"tokens":  {"token-stream-sse", twoTokens, tokensOfStream, 2},
	} {
		expectLostInTime(t, name, c.protocol, c.answered, c.owed, c.came)
	}
}

// begin makes the only client of a loop a member, on a file descriptor that it may close.
func begin(t *testing.T, l *loop) *client {
	t.Helper()
	c := l.clients[0]
	own, err := unix.Dup(c.fd)
	if err != nil {
		t.Fatal(err)
	}
	c.fd, l.byFD = own, append(make([]*client, own), c)
	l.received(c, nil, 0)
	return c
}

// expectLostInTime expects a client to wait for the rest of an answer until its timeout, and then to start again.
func expectLostInTime(t *testing.T, name, protocol, answered string, owed, came int64) {
	t.Helper()
	l := benchLoop(t, protocol, schedule.Groups{Size: 1, Pattern: schedule.Pattern{Rate: 10}}, 1)
	c := begin(t, l)
	due := l.pool.due()
	l.arrive(due)
	l.received(c, []byte(answered), due+time.Second)
	if c.at != due+exchangeTimeout {
		t.Fatalf("%s: the loop looks at the client after %s", name, c.at)
	}
	l.act(c, c.at)
	got, why := l.ledger.Stage(0), l.engine.collector.reasons["no complete answer in time"]
	if got.Sent != 1 || got.Received != came || got.Lost() != owed-came || why != 1 ||
		l.gauges.disconnects.Load() != 1 {
		t.Errorf("%s: %+v, %v", name, got, l.engine.collector.reasons)
	}
	if c.state == member || c.own.Open() {
		t.Errorf("%s: the client goes on as if it had been answered", name)
	}
}

type counted struct{ lost, duplicate, outOfOrder, disconnects int64 }

func TestAnAnswerThatNobodyAskedForEndsTheConnection(t *testing.T) {
	inEach(t, posts, func(t testing.TB, name string) {
		report, e, did := playRequests(t, name, schedule.Patterns["steady"], 10,
			scripted.HTTPFaults{TwiceEvery: 5})
		if got := e.gauges().Disconnects; got != did.Twice || got == 0 {
			t.Errorf("%d disconnects, the server answered twice %d times: %+v", got, did.Twice, report.Errors)
		}
		if all := everything(e); all.Lost() != 0 {
			t.Errorf("%+v", all)
		}
	})
}

func TestAConnectionThatTheServerEndsAfterAnAnswerCostsNothing(t *testing.T) {
	t.Parallel()
	for name, pattern := range map[string]schedule.Pattern{"closed": schedule.Patterns["closed"],
		"at a rate": atRate(200)} {
		t.Run(name, func(t *testing.T) {
			truthTest(t, func(t testing.TB) {
				faults := scripted.HTTPFaults{Delay: 5 * time.Millisecond, LastEvery: 3}
				report, e, did := playRequests(t, "posts-http", pattern, 20, faults)
				all := everything(e)
				if all.Lost() != 0 || all.Sent != did.Rows || all.Sent < 100 || e.gauges().Disconnects != 0 {
					t.Errorf("%+v, %d disconnects, the server made %+v", all, e.gauges().Disconnects, did)
				}
				if members := report.Stages[0].Clients.Members; members != 20 {
					t.Errorf("%d members of 20", members)
				}
			})
		})
	}
}

// A client between two connections is a member, unless an attempt fails or takes too long.
func TestAMemberStaysOneBetweenTwoConnections(t *testing.T) {
	const last = "HTTP/1.1 201 Created\r\nConnection: close\r\nContent-Length: 2\r\nLocation: /post/17\r\n\r\n{}"
	between := func() (*loop, *client, time.Duration) {
		l := benchLoop(t, "posts-http", schedule.Groups{Size: 1, Pattern: schedule.Patterns["closed"]}, 1)
		c := begin(t, l)
		due := c.at
		l.act(c, due)
		l.received(c, []byte(last), due)
		if c.state == member {
			t.Fatal("the connection goes on")
		}
		return l, c, due
	}
	expect := func(what string, l *loop, members int64) {
		t.Helper()
		if got := l.census().Members; got != members {
			t.Errorf("%s: %d members, not %d", what, got, members)
		}
	}

	l, _, due := between()
	l.edge = due + retryPause
	expect("at once", l, 1)
	l.edge++
	expect("for a second", l, 0)

	l, c, due := between()
	l.setback(c, io.ErrUnexpectedEOF, due)
	expect("after a failed attempt", l, 0)
	l.connect(c, due)
	expect("at another attempt", l, 0)
	l.connected(c, due)
	expect("after another attempt", l, 1)

	l, c, due = between()
	l.connected(c, due)
	expect("on its next connection", l, 1)
	l.leave(c)
	expect("after it left", l, 0)

	l, c, _ = between()
	l.leave(c)
	expect("after it left between two", l, 0)
}
