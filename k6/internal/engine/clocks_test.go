package engine

import (
	"encoding/json"
	"io"
	"net"
	"testing"

	"github.com/pushbench/pushbench/k6/internal/clock"
)

func TestTheClockOfEachMeterIsComparedOrSaidNotToAnswer(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	go clock.Serve(listener)
	answers, silent := listener.Addr().String(), "127.0.0.1:not-a-port"
	events, writer := io.Pipe()
	e := &Engine{
		config:   Config{Meters: []string{answers, silent}, Events: writer},
		finished: make(chan struct{}),
	}
	e.collector = newCollector(e)
	defer close(e.finished)
	before := clock.Monotonic()
	e.compareClocks()
	type event struct {
		Event, Meter, Error string
		At                  int64
		Ahead               int64 `json:"ahead_us"`
		Within              int64 `json:"within_us"`
	}
	told := map[string]event{}
	for decoder := json.NewDecoder(events); len(told) < 2; {
		var found event
		if err := decoder.Decode(&found); err != nil {
			t.Fatal(err)
		}
		told[found.Meter] = found
	}
	found := told[answers]
	if found.Event != "clock" || found.Error != "" || found.At < before || found.Within < 1 ||
		max(found.Ahead, -found.Ahead) > found.Within {
		t.Errorf("%+v", found)
	}
	if told[silent].Error == "" || told[silent].Within != 0 {
		t.Errorf("%+v", told[silent])
	}
}
