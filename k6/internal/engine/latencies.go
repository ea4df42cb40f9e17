package engine

import "github.com/pushbench/pushbench/k6/internal/histogram"

// latencies are a loop's latencies in one stage. Except for gap, each begins at a due time.
type latencies struct {
	own   *histogram.Histogram // a message is back at its sender
	each  *histogram.Histogram // a receipt
	first *histogram.Histogram // the first receipt of an exchange
	last  *histogram.Histogram // the last receipt of an exchange, if all its receipts came
	gap   *histogram.Histogram // between two receipts of an exchange

	lateness, connect *histogram.Histogram
}

// newLatencies makes the latencies of clients with requests of their own, or of members of groups.
func newLatencies(requests bool) latencies {
	l := latencies{last: histogram.New(), lateness: histogram.New(), connect: histogram.New()}
	if requests {
		l.first, l.gap = histogram.New(), histogram.New()
	} else {
		l.own, l.each = histogram.New(), histogram.New()
	}
	return l
}

func (a *latencies) add(b latencies) {
	for _, pair := range [][2]*histogram.Histogram{
		{a.own, b.own}, {a.each, b.each}, {a.first, b.first}, {a.last, b.last}, {a.gap, b.gap},
		{a.lateness, b.lateness}, {a.connect, b.connect},
	} {
		if pair[0] != nil {
			pair[0].Add(pair[1])
		}
	}
}

func (a *latencies) encode(to *Histograms) error {
	for text, h := range map[*string]*histogram.Histogram{
		&to.Own: a.own, &to.Each: a.each, &to.First: a.first, &to.Last: a.last, &to.Gap: a.gap,
		&to.Lateness: a.lateness, &to.Connect: a.connect,
	} {
		if h == nil {
			continue
		}
		encoded, err := h.Encode()
		if err != nil {
			return err
		}
		*text = encoded
	}
	return nil
}
