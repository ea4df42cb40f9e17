package engine

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/pushbench/pushbench/k6/internal/schedule"
	"github.com/pushbench/pushbench/k6/internal/scripted"
)

// overTLS makes the clients of an engine connect to the scripted server with TLS.
func overTLS(server *scripted.Server) tongue {
	return func(t testing.TB, config *Config) {
		t.Helper()
		config.Authorities = filepath.Join(t.TempDir(), "authority.pem")
		var err error
		if config.URL, err = server.Secure(config.Authorities); err != nil {
			t.Fatal(err)
		}
	}
}

func TestTheSameIsCountedOverTLS(t *testing.T) {
	t.Parallel()
	for name, speak := range tongues {
		t.Run(name, func(t *testing.T) {
			truthTest(t, func(t testing.TB) {
				const dropEvery = 7
				server := startScripted(t, scripted.Faults{DropEvery: dropEvery})
				stage := play(t, newEngine(t, server, oneStage, speak, overTLS(server)), server).Stages[0]
				want := int64(players * groupSize * 3)
				if stage.Receipts.Expected != want || stage.Receipts.Corrupt != 0 || stage.Receipts.Duplicate != 0 {
					t.Errorf("%+v, expected %d", stage.Receipts, want)
				}
				if lost := stage.Receipts.Lost; lost < want/dropEvery-2 || lost > want/dropEvery+2 {
					t.Errorf("%d lost, every %d-th of %d was dropped", lost, dropEvery, want)
				}
			})
		})
	}
}

func TestClientsTalkToNobodyWhoCannotProveWhoHeIs(t *testing.T) {
	t.Parallel()
	brief := schedule.Schedule{Stages: []schedule.Stage{{Clients: groupSize, RampSeconds: 0.2, SteadySeconds: 1}}}
	for name, test := range map[string]struct {
		change func(*Config)
		why    string
	}{
		"an authority that is not trusted": {
			func(c *Config) {
				trusted := Config{}
				overTLS(startScripted(t, scripted.Faults{}))(t, &trusted)
				c.Authorities = trusted.Authorities
			}, "unknown authority",
		},
		"another name": {
			func(c *Config) { c.URL = strings.Replace(c.URL, "127.0.0.1", "localhost", 1) }, "localhost",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := startScripted(t, scripted.Faults{})
			change := func(_ testing.TB, c *Config) { test.change(c) }
			report := play(t, newEngine(t, server, brief, overTLS(server), change), server)
			if report.Stages[0].Clients.Members != 0 || server.Counts().Connections != 0 {
				t.Errorf("%+v: somebody is a member", report.Stages[0].Clients)
			}
			if len(report.Errors) == 0 || !strings.Contains(report.Errors[0].Reason, test.why) {
				t.Errorf("%+v, expected %q", report.Errors, test.why)
			}
		})
	}
}
