package engine

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/pushbench/pushbench/k6/internal/declared"
	"github.com/pushbench/pushbench/k6/internal/schedule"
	"github.com/pushbench/pushbench/k6/internal/scripted"
)

// tongue makes the clients of an engine speak the protocol of the scripted server.
type tongue func(t testing.TB, config *Config)

// tongues are clients that speak the same protocol: the built-in ones, and those of
// docs/examples/whiteboard/protocol.yml.
var tongues = map[string]tongue{"built-in": builtIn, "declared": declaredToo}

func builtIn(_ testing.TB, config *Config) { config.Protocol = "whiteboard-json" }

func declaredToo(t testing.TB, config *Config) {
	t.Helper()
	declare(t, config, "whiteboard")
}

// declare makes the clients speak the protocol of an example.
func declare(t testing.TB, config *Config, example string) {
	t.Helper()
	text, err := os.ReadFile("../declared/testdata/" + example + ".json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &config.Declaration); err != nil {
		t.Fatal(err)
	}
}

// inBoth plays a truth test with the built-in clients and with declared ones.
func inBoth(t *testing.T, play func(*testing.T, func(testing.TB)), test func(t testing.TB, speak tongue)) {
	t.Helper()
	t.Parallel()
	for name, speak := range tongues {
		t.Run(name, func(t *testing.T) {
			play(t, func(t testing.TB) { test(t, speak) })
		})
	}
}

func TestDeclaredClientsCountWhatTheBuiltInOnesCount(t *testing.T) {
	truthTest(t, func(t testing.TB) {
		const altered = 20 // within half a second of the steady window, which begins at 1.5 s
		faults := scripted.Faults{After: 2 * time.Second, CorruptEvery: 5, Most: altered}
		counted := map[string]StageReport{}
		for name, speak := range tongues {
			server := startScripted(t, faults)
			report := play(t, newEngine(t, server, oneStage, speak), server)
			counted[name] = report.Stages[0]
		}
		one, other := counted["built-in"], counted["declared"]
		if one.Messages != other.Messages || one.Clients != other.Clients {
			t.Errorf("%+v %+v\n%+v %+v", one.Messages, one.Clients, other.Messages, other.Clients)
		}
		if one.Receipts != other.Receipts || one.Receipts.Corrupt != altered || one.Receipts.Lost != altered {
			t.Errorf("receipts %+v and %+v, expected %d corrupt", one.Receipts, other.Receipts, altered)
		}
	})
}

// packed uses the declaration with MessagePack instead of JSON.
func packed(t testing.TB, config *Config) {
	t.Helper()
	declaredToo(t, config)
	config.Declaration.Format = "msgpack"
	config.Declaration.Path = declared.Template{{Literal: "/packed"}}
}

func TestMessagePackCountsLikeJSON(t *testing.T) {
	t.Parallel()
	const most = 20
	for name, faults := range map[string]scripted.Faults{
		"altered": {After: 2 * time.Second, CorruptEvery: 5, Most: most},
		"delayed": {Delay: 20 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			truthTest(t, func(t testing.TB) {
				server := startScripted(t, faults)
				stage := play(t, newEngine(t, server, oneStage, packed), server).Stages[0]
				want, altered := int64(players*groupSize*3), server.Counts().Corrupted
				if r := stage.Receipts; r.Expected != want || r.Received != want-altered || r.Corrupt != altered {
					t.Errorf("%+v: expected %d, %d of them corrupt", r, want, altered)
				}
				p50, least := decode(t, stage.Histograms.Each).ValueAtQuantile(50), faults.Delay.Microseconds()
				if p50 < least || p50 > least+10_000 {
					t.Errorf("delivery p50 %d us, expected %s", p50, faults.Delay)
				}
			})
		})
	}
}

// undated uses the declaration without the time.
func undated(t testing.TB, config *Config) {
	t.Helper()
	declaredToo(t, config)
	config.Declaration.Message.Received.Time = nil
}

func TestAReceiptWithoutATimeIsKnownByItsID(t *testing.T) {
	truthTest(t, func(t testing.TB) {
		const delay = 20 * time.Millisecond
		server := startScripted(t, scripted.Faults{Delay: delay})
		stage := play(t, newEngine(t, server, oneStage, undated), server).Stages[0]
		if want := int64(players * groupSize * 3); stage.Receipts.Received != want || stage.Receipts.Corrupt != 0 {
			t.Errorf("%+v: expected %d", stage.Receipts, want)
		}
		if p50 := decode(t, stage.Histograms.Each).ValueAtQuantile(50); p50 < delay.Microseconds() ||
			p50 > (delay+10*time.Millisecond).Microseconds() {
			t.Errorf("delivery p50 %d us, expected %s", p50, delay)
		}
	})
}

// connected uses the declaration of a server that makes every connected client a member: nothing acknowledges a join.
func connected(t testing.TB, config *Config) {
	t.Helper()
	declaredToo(t, config)
	joined := config.Declaration.Join.Acknowledged
	config.Declaration.Join.Acknowledged = nil
	config.Declaration.Ignore = []declared.Pattern{*joined}
}

func TestWhoIsNotAcknowledgedIsAMemberAtOnce(t *testing.T) {
	truthTest(t, func(t testing.TB) {
		server := startScripted(t, scripted.Faults{})
		stage := play(t, newEngine(t, server, oneStage, connected), server).Stages[0]
		if want := int64(players * groupSize * 3); stage.Receipts.Received != want || stage.Receipts.Lost != 0 ||
			stage.Clients.Members != players {
			t.Errorf("%+v %+v: expected %d", stage.Receipts, stage.Clients, want)
		}
	})
}

// lively uses the declaration with a repeated join every 100 ms, whose answer is ignored.
func lively(t testing.TB, config *Config) {
	t.Helper()
	declaredToo(t, config)
	config.Declaration.KeepAlive = &declared.KeepAlive{EverySeconds: 0.1, Send: config.Declaration.Join.Send}
}

func TestMembersKeepTheirConnectionsAlive(t *testing.T) {
	truthTest(t, func(t testing.TB) {
		server := startScripted(t, scripted.Faults{})
		quiet := play(t, newEngine(t, server, oneStage, declaredToo), server).Stages[0]
		loud := play(t, newEngine(t, server, oneStage, lively), server).Stages[0]
		if want := int64(players * groupSize * 3); loud.Receipts.Received != want || loud.Receipts.Corrupt != 0 {
			t.Errorf("%+v: expected %d", loud.Receipts, want)
		}
		joined := int64(len(`{"type":"joined","boardId":"b-0","userId":"u-0"}`))
		more := (loud.Traffic.ReceivedBytes - quiet.Traffic.ReceivedBytes) / joined
		if more < players*3*8 || more > players*3*13 {
			t.Errorf("%d answers to what keeps connections alive, expected about %d", more, players*3*10)
		}
	})
}

func TestADeclarationThatCannotWorkStartsNothing(t *testing.T) {
	server := startScripted(t, scripted.Faults{})
	groups := []schedule.Groups{{Size: groupSize, Pattern: schedule.Patterns["steady"]}}
	for want, change := range map[string]func(*Config){
		"format": func(c *Config) { c.Declaration.Format = "xml" },
		"TOKEN_THAT_IS_NOT_SET": func(c *Config) {
			c.Declaration.Secrets = map[string]declared.Secret{"t": {Env: "TOKEN_THAT_IS_NOT_SET"}}
		},
		"too many generators": func(c *Config) { c.Segment = "9/10:1" },
	} {
		config := Config{URL: server.URL(), Schedule: oneStage, Groups: groups}
		declaredToo(t, &config)
		change(&config)
		if _, err := New(config); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, expected %q", err, want)
		}
	}
	if server.Counts().Connections != 0 {
		t.Error("somebody connected")
	}
}
