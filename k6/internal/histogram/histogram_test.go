package histogram

import (
	"testing"
	"time"
)

func TestLatenciesAboveALimitAreCounted(t *testing.T) {
	h := New()
	for ms := 1; ms <= 200; ms++ {
		h.Record(time.Duration(ms) * time.Millisecond)
	}
	for limit, above := range map[time.Duration]int64{
		0: 200, 100 * time.Millisecond: 100, 150 * time.Millisecond: 50, 200 * time.Millisecond: 0, time.Hour: 0,
	} {
		if found := h.CountAbove(limit); found != above {
			t.Errorf("%d above %s, expected %d", found, limit, above)
		}
	}
}
