package main

import (
	"testing"
	"time"
)

func TestDeliveryP50IsFoundInTheOutputOfEachSubject(t *testing.T) {
	const table = "" +
		"  stage  clients  sent/s  receipts/s    lost  own p50  each p50    p95      p99  first p50  p95\n" +
		"    200  200/200     200        2000  0.00 %    393µs     397µs  764µs  2.223ms          -    -\n"
	for output, want := range map[string]time.Duration{
		table:                              397 * time.Microsecond,
		"delivery p50 412µs p95 790µs\n":   412 * time.Microsecond,
		"running\ndelivery p50 1.2ms\nend": 1200 * time.Microsecond,
	} {
		got, err := deliveryP50(output)
		if err != nil || got != want {
			t.Errorf("deliveryP50(%q) = %v, %v, want %v", output, got, err, want)
		}
	}
	for _, output := range []string{"", "stage  clients\n200  200/200\n", "nothing\n"} {
		if got, err := deliveryP50(output); err == nil {
			t.Errorf("deliveryP50(%q) = %v, want an error", output, got)
		}
	}
}
