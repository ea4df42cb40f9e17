// Package faulty makes the connections of a WebSocket server misbehave in a known way, below a server that is not
// modified. It reads what the server writes: each Write has to be one complete frame, as it is if the server writes
// net.Buffers. It imports nothing but the standard library, because it is compiled into the server's own module.
package faulty

import (
	"flag"
	"io"
	"strings"
	"time"
)

// Faults are the faults of all connections. Every n-th delivery is counted over the whole server; times count from the
// first WebSocket client.
type Faults struct {
	DropEvery, TwiceEvery, AlterEvery, CrossEvery int64
	// TwiceAbove restricts TwiceEvery to seconds that follow one with more deliveries than this.
	TwiceAbove int64
	// SwapEvery holds a delivery back until the same sender's next one to that receiver is sent, OvertakeEvery until
	// another sender's is.
	SwapEvery, OvertakeEvery int64
	Silent                   bool

	// Delay is applied to every delivery; Aging adds this much for each second since the first client.
	Delay, Aging time.Duration
	// SlowBoard is the delay of the first board that a client joined.
	SlowBoard time.Duration
	LateEvery int64
	LateBy    time.Duration
	// Nothing is read or written for StallFor at StallAt, and for PauseFor at the end of every PauseEvery.
	StallAt, StallFor, PauseEvery, PauseFor time.Duration
	Nagle                                   bool

	// DieAt and RefuseBeyond are numbers of clients.
	DieAt, RefuseBeyond int64
	AcceptPause         time.Duration

	// Burn is the CPU time of every read from a client, which is usually one message.
	Burn time.Duration
	// Leak is in bytes a second, Weight in bytes per client.
	Leak, Weight int64
	// Capacity is the maximum number of deliveries a second; more than that queue.
	Capacity int64
}

// Parse reads faults in the form of a command line: `-drop-every 143`. An empty text means no fault.
func Parse(text string) (Faults, error) {
	var f Faults
	set := flag.NewFlagSet("faults", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	set.Int64Var(&f.DropEvery, "drop-every", 0, "")
	set.Int64Var(&f.TwiceEvery, "twice-every", 0, "")
	set.Int64Var(&f.TwiceAbove, "twice-above", 0, "")
	set.Int64Var(&f.AlterEvery, "alter-every", 0, "")
	set.Int64Var(&f.CrossEvery, "cross-every", 0, "")
	set.Int64Var(&f.SwapEvery, "swap-every", 0, "")
	set.Int64Var(&f.OvertakeEvery, "overtake-every", 0, "")
	set.BoolVar(&f.Silent, "silent", false, "")
	set.DurationVar(&f.Delay, "delay", 0, "")
	set.DurationVar(&f.Aging, "aging", 0, "")
	set.DurationVar(&f.SlowBoard, "slow-board", 0, "")
	set.Int64Var(&f.LateEvery, "late-every", 0, "")
	set.DurationVar(&f.LateBy, "late-by", 0, "")
	set.DurationVar(&f.StallAt, "stall-at", 0, "")
	set.DurationVar(&f.StallFor, "stall-for", 0, "")
	set.DurationVar(&f.PauseEvery, "pause-every", 0, "")
	set.DurationVar(&f.PauseFor, "pause-for", 0, "")
	set.BoolVar(&f.Nagle, "nagle", false, "")
	set.Int64Var(&f.DieAt, "die-at", 0, "")
	set.Int64Var(&f.RefuseBeyond, "refuse-beyond", 0, "")
	set.DurationVar(&f.AcceptPause, "accept-pause", 0, "")
	set.DurationVar(&f.Burn, "burn", 0, "")
	set.Int64Var(&f.Leak, "leak", 0, "")
	set.Int64Var(&f.Weight, "weight", 0, "")
	set.Int64Var(&f.Capacity, "capacity", 0, "")
	return f, set.Parse(strings.Fields(text))
}
