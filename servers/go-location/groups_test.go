package main

import (
	"testing"
	"time"
)

type counter struct{ told []*news }

func (c *counter) tell(told *news) { c.told = append(c.told, told) }

func TestOthersAreToldAndTheNewestIsKept(t *testing.T) {
	all := groups{byName: map[string]*group{}}
	var own, other counter
	all.with("g", func(g *group) {
		g.listen(&own, "ann")
		g.listen(&other, "bob")
		for _, position := range []string{"1", "2"} {
			if err := g.put("ann", []byte(position)); err != nil {
				t.Fatal(err)
			}
		}
		if len(own.told) != 0 || len(other.told) != 2 || other.told[1].version != 2 {
			t.Errorf("told %+v and %+v", own.told, other.told)
		}
		for version, want := range map[int64]string{
			0: `{"version":2,"positions":[2]}`, 2: `{"version":2,"positions":[]}`, 3: `{"version":2,"positions":[2]}`,
		} {
			if got := string(g.since("bob", version).body); got != want {
				t.Errorf("since %d: %s", version, got)
			}
		}
	})
}

func TestAGroupThatNobodyUsesIsForgotten(t *testing.T) {
	all := groups{byName: map[string]*group{}}
	var listener counter
	all.with("g", func(g *group) { g.listen(&listener, "ann") })
	all.sweep(time.Now().Add(2 * keptFor))
	if groups, listeners := all.count(); groups != 1 || listeners != 1 {
		t.Errorf("%d groups, %d listeners: somebody listens", groups, listeners)
	}
	all.with("g", func(g *group) { g.leave(&listener) })
	all.sweep(time.Now().Add(keptFor / 2))
	if groups, _ := all.count(); groups != 1 {
		t.Error("forgotten too early")
	}
	all.sweep(time.Now().Add(2 * keptFor))
	if groups, _ := all.count(); groups != 0 {
		t.Error("kept for ever")
	}
}

func TestWhoDoesNotReadIsDisconnected(t *testing.T) {
	disconnected := 0
	box := newOutbox(func() { disconnected++ })
	piece := make([]byte, 1024)
	for range maxQueuedBytes / len(piece) {
		box.push(piece)
	}
	if disconnected != 0 {
		t.Fatal("disconnected with 1 MiB queued")
	}
	box.push(piece)
	box.push(piece)
	if disconnected != 1 || len(box.next(nil)) != 0 {
		t.Errorf("disconnected %d times", disconnected)
	}
}
