package scripted

import (
	"slices"
	"sync"
	"testing"
	"time"
)

func TestWhatComesAtOneMomentIsDeliveredInOrder(t *testing.T) {
	const count = 20_000
	var line later
	var all sync.WaitGroup
	var found []int
	all.Add(count)
	for number := range count {
		line.after(time.Millisecond, func() {
			found = append(found, number)
			all.Done()
		})
	}
	all.Wait()
	if !slices.IsSorted(found) || len(found) != count {
		t.Errorf("%d of %d, sorted: %t", len(found), count, slices.IsSorted(found))
	}
}
