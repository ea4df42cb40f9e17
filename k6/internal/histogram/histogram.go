// Package histogram defines the single configuration of HdrHistogram that all latencies use, so that any two can be
// added.
package histogram

import (
	"fmt"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// The range of every latency: 1 us to 120 s with 3 significant digits. Longer ones count as 120 s.
const (
	lowest  = 1
	highest = 120_000_000
	digits  = 3
)

// Histogram counts latencies in microseconds. It is not safe for concurrent use.
type Histogram struct {
	hdr *hdrhistogram.Histogram
}

// New returns an empty histogram.
func New() *Histogram {
	return &Histogram{hdrhistogram.New(lowest, highest, digits)}
}

// Record counts one latency. Values below the range count as its lowest value, values above as its highest.
func (h *Histogram) Record(latency time.Duration) {
	us := min(max(latency.Microseconds(), lowest), highest)
	_ = h.hdr.RecordValue(us) // in range, so it cannot fail
}

// Add counts everything that other counted.
func (h *Histogram) Add(other *Histogram) {
	h.hdr.Merge(other.hdr)
}

// Count returns how many latencies were recorded.
func (h *Histogram) Count() int64 {
	return h.hdr.TotalCount()
}

// Quantile returns the latency at q percent, exact to the histogram's 3 digits; 0 if it is empty.
func (h *Histogram) Quantile(q float64) time.Duration {
	return time.Duration(h.hdr.ValueAtQuantile(q)) * time.Microsecond
}

// CountAbove returns how many latencies are above the limit, exact to the histogram's 3 digits.
func (h *Histogram) CountAbove(limit time.Duration) int64 {
	var above int64
	for _, bar := range h.hdr.Distribution() {
		if bar.From > limit.Microseconds() {
			above += bar.Count
		}
	}
	return above
}

// Max returns the largest latency, exact to the histogram's 3 digits.
func (h *Histogram) Max() time.Duration {
	return time.Duration(h.hdr.Max()) * time.Microsecond
}

// Encode writes the histogram in the V2 compressed format, base64.
func (h *Histogram) Encode() (string, error) {
	text, err := h.hdr.Encode(hdrhistogram.V2CompressedEncodingCookieBase)
	if err != nil {
		return "", fmt.Errorf("histogram: %w", err)
	}
	return string(text), nil
}
