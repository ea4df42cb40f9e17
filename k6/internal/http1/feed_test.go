package http1

import (
	"errors"
	"io"
	"math/rand/v2"
	"testing"
)

// response is the result of reading one response.
type response struct {
	status    int
	body      string
	keepAlive bool
	complete  bool
}

// reading is the result of reading the whole input of a connection.
type reading struct {
	responses []response
	err       error
	begun     int // where the first incomplete response begins
}

// cut returns how many bytes of the rest come in one piece.
type cut func(rest int) int

func whole(rest int) int { return rest }

func bytewise(int) int { return 1 }

// at cuts once, after n bytes.
func at(n int) cut {
	first := true
	return func(rest int) int {
		if first && n > 0 {
			first = false
			return min(n, rest)
		}
		return rest
	}
}

// randomly cuts into pieces of 1 to 12 bytes, and sometimes of hundreds.
func randomly(seed uint64) cut {
	random := rand.New(rand.NewPCG(seed, 0))
	return func(rest int) int {
		size := 1 + random.IntN(12)
		if random.IntN(8) == 0 {
			size += random.IntN(600)
		}
		return min(size, rest)
	}
}

// feed reads the input in pieces, whose memory is overwritten once they are consumed. Bit i of heads means that
// response i answers a HEAD request.
func feed(t testing.TB, input string, heads uint8, next cut) (got reading) {
	t.Helper()
	r := Reader{HEAD: heads&1 != 0}
	open, keepAlive, taken := false, false, 0
	take := func(event Event) {
		switch last := len(got.responses) - 1; event.Kind {
		case Nothing:
		case Header:
			got.responses = append(got.responses, response{status: r.Status()})
			keepAlive = r.KeepAlive()
			open = true
		case Body:
			got.responses[last].body += string(event.Data)
		case End:
			got.responses[last].keepAlive, got.responses[last].complete = r.KeepAlive(), true
			open, got.begun = false, taken
			if r.KeepAlive() != keepAlive {
				t.Fatalf("%q: keep-alive was %v at the header", input, keepAlive)
			}
			r.HEAD = heads>>min(len(got.responses), 7)&1 != 0
		}
		if began := event.Kind == Body || event.Kind == End; began && len(got.responses) == 0 {
			t.Fatalf("%q: event %d before a header", input, event.Kind)
		}
	}
	for taken < len(input) {
		piece := []byte(input[taken : taken+next(len(input)-taken)])
		for rest := piece; ; {
			event, n, err := r.Next(rest)
			if n < 0 || n > len(rest) || err == nil && event.Kind == Nothing && n < len(rest) {
				t.Fatalf("%q: took %d of %d bytes, %v", input, n, len(rest), err)
			}
			taken += n
			if err != nil {
				got.err = err
				return got
			}
			take(event)
			if rest = rest[n:]; event.Kind == Nothing {
				break
			}
		}
		if cap(r.partial) > 2*MaxHeader+keptCapacity {
			t.Fatalf("%q: holds %d bytes", input, cap(r.partial))
		}
		for i := range piece {
			piece[i] = 0xaa
		}
	}
	event, err := r.Close()
	if (event.Kind == End) != (open && err == nil) || err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Fatalf("%q: the end of the connection gave %d, %v", input, event.Kind, err)
	}
	take(event)
	got.err = err
	return got
}
