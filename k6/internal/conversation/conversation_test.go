package conversation

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/pushbench/pushbench/k6/internal/declared"
	"github.com/pushbench/pushbench/k6/internal/parallel"
	"github.com/pushbench/pushbench/k6/internal/scripted"
)

func TestMain(m *testing.M) {
	parallel.Tests("16")
	m.Run()
}

// talk plays a conversation with a scripted server, as docs/examples/whiteboard/protocol.yml declares it except for one
// change.
func talk(t *testing.T, faults scripted.Faults, change func(*declared.Declaration)) *Report {
	t.Helper()
	server, err := scripted.Start("127.0.0.1:0", faults)
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	server.Arm(time.Now())
	return converse(t, server.URL(), "whiteboard", change)
}

// declaration returns an example's protocol.yml as the generator gets it.
func declaration(t *testing.T, example string) (d declared.Declaration) {
	t.Helper()
	text, err := os.ReadFile("../declared/testdata/" + example + ".json")
	if err == nil {
		err = json.Unmarshal(text, &d)
	}
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// converse plays a conversation as an example declares it except for one change.
func converse(t *testing.T, url, example string, change func(*declared.Declaration)) *Report {
	t.Helper()
	config := Config{URL: url, Declaration: declaration(t, example), Within: 300 * time.Millisecond}
	if change != nil {
		change(&config.Declaration)
	}
	report, err := Play(config)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

func TestPublicProtocolsAreUnderstood(t *testing.T) {
	t.Parallel()
	for name := range scripted.Publics {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server, err := scripted.StartPublic("127.0.0.1:0", name)
			if err != nil {
				t.Fatal(err)
			}
			defer server.Close()
			report := converse(t, server.URL(), name, nil)
			if report.Fault != nil || len(server.Counts().Faults) > 0 {
				t.Errorf("%+v, the server found %q", report.Fault, server.Counts().Faults)
			}
			for _, line := range report.Lines {
				if !line.Understood {
					t.Errorf("%+v", line)
				}
			}
		})
	}
}

func TestAStepOfTheOpeningIsNamed(t *testing.T) {
	t.Parallel()
	server, err := scripted.StartPublic("127.0.0.1:0", "signalr-chat")
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	report := converse(t, server.URL(), "signalr-chat", func(d *declared.Declaration) {
		never := declared.Step{Acknowledged: &declared.Pattern{Where: d.Message.Received.Where}}
		d.Open = []declared.Step{{}, d.Open[0], never}
	})
	if report.Fault == nil || report.Fault.At != "open.2.acknowledged" {
		t.Errorf("%+v, expected what the last step waits for", report.Fault)
	}
}

func TestEverybodyUnderstandsEveryMessage(t *testing.T) {
	t.Parallel()
	report := talk(t, scripted.Faults{}, nil)
	if report.Fault != nil {
		t.Fatal(report.Fault)
	}
	meanings := map[string]int{}
	for _, line := range report.Lines {
		if line.Kind == "received" {
			meanings[line.Meaning]++
		}
	}
	for meaning, want := range map[string]int{
		"join.acknowledged": 2, "message 0 of client 0": 2, "message 0 of client 1": 2, "message 1 of client 0": 2,
	} {
		if meanings[meaning] != want {
			t.Errorf("%q %d times, expected %d: %v", meaning, meanings[meaning], want, meanings)
		}
	}
}

func TestWhatDoesNotFitIsAFaultOfItsKey(t *testing.T) {
	t.Parallel()
	silent := declared.Pattern{Where: []declared.Condition{{At: "/never", Is: declared.Template{{Value: "any"}}}}}
	for name, test := range map[string]struct {
		faults   scripted.Faults
		change   func(*declared.Declaration)
		at, what string
	}{
		"no acknowledgement": {scripted.Faults{}, func(d *declared.Declaration) {
			d.Ignore = []declared.Pattern{*d.Join.Acknowledged}
			d.Join.Acknowledged = &silent
		}, "join.acknowledged", "never comes within 0.3 s"},
		"another acknowledgement": {scripted.Faults{}, func(d *declared.Declaration) {
			d.Join.Acknowledged = &silent
		}, "join.acknowledged", "never comes within 0.3 s; what came is a message that is not declared: "},
		"an acknowledgement that nobody expects": {scripted.Faults{}, func(d *declared.Declaration) {
			d.Join.Acknowledged = nil
		}, "ignore", "a message that is not declared"},
		"no opening": {scripted.Faults{}, func(d *declared.Declaration) {
			d.Open = []declared.Step{{Acknowledged: &silent}}
		}, "open.acknowledged", "never comes"},
		"nothing is delivered": {scripted.Faults{Silent: true}, nil, "message.received",
			"client 0 never receives message 0 of client 0"},
		"everything twice": {scripted.Faults{DuplicateEvery: 1}, nil, "message.id", "is not unique"},
		"altered":          {scripted.Faults{CorruptEvery: 2}, nil, "message.same", "/stroke"},
		"refused":          {scripted.Faults{RefuseFor: time.Hour}, nil, "websocket.path", "HTTP 503"},
		"ended":            {scripted.Faults{CloseFirst: 1}, nil, "", "the connection ends"},
		"binary":           {scripted.Faults{BinaryFirst: 1}, nil, "", "binary"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fault := talk(t, test.faults, test.change).Fault
			if fault == nil || fault.At != test.at || !strings.Contains(fault.What, test.what) {
				t.Errorf("%+v, expected %q at %q", fault, test.what, test.at)
			}
		})
	}
}

func TestNobodyAnswersIsNoFaultOfTheDeclaration(t *testing.T) {
	t.Parallel()
	config := Config{URL: "ws://127.0.0.1:1", Declaration: declared.Declaration{Format: "text"}, Within: time.Second}
	if _, err := Play(config); err ==
		nil || !strings.Contains(err.Error(), "no server answers") {
		t.Errorf("%v", err)
	}
}
