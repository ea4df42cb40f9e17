package conversation

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pushbench/pushbench/k6/internal/scripted"
)

func TestAConversationOverTLS(t *testing.T) {
	t.Parallel()
	server, err := scripted.Start("127.0.0.1:0", scripted.Faults{})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	config := Config{
		Declaration: declaration(t, "whiteboard"),
		Within:      time.Second,
		Authorities: filepath.Join(t.TempDir(), "own.pem"),
	}
	if config.URL, err = server.Secure(config.Authorities); err != nil {
		t.Fatal(err)
	}
	if report, err := Play(config); err != nil || report.Fault != nil {
		t.Errorf("%v %+v", err, report)
	}
	config.Authorities = ""
	if _, err := Play(config); err == nil || !strings.Contains(err.Error(), "TLS: ") {
		t.Errorf("%v, expected that nobody knows the authority", err)
	}
}
