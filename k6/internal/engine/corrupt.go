package engine

import (
	"errors"
	"fmt"
	"time"

	"github.com/pushbench/pushbench/k6/internal/protocol"
)

// closed responds to a server that ends the conversation.
func (l *loop) closed(c *client, event *protocol.Event) {
	if c.state == leaving {
		l.close(c)
		return
	}
	l.write(c, event.Reply)
	l.drop(c, errors.New(event.Reason))
}

// corrupt counts a delivery with wrong content, and describes the first one of the load.
func (l *loop) corrupt(c *client, what string, now time.Duration) {
	l.ledger.Corrupt(l.engine.stageOf(now))
	l.describeCorrupt(c, what)
}

// describeCorrupt describes the first corrupt delivery of the load.
func (l *loop) describeCorrupt(c *client, what string) {
	l.engine.firstCorrupt.Do(func() {
		group := l.engine.groupName(c.population, c.groupNumber)
		if r := c.playing.room; r != nil {
			group = r.name
		}
		said := fmt.Sprintf("first corrupt delivery: client %d of %s received %s", c.number, group, what)
		l.engine.collector.complain(said)
	})
}
