package push

import (
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/pushbench/pushbench/k6/internal/engine"
)

// text returns the load report for a person who ran k6 by hand.
func text(report *engine.Report) string {
	var out strings.Builder
	table := tabwriter.NewWriter(&out, 0, 0, 2, ' ', tabwriter.AlignRight)
	_, _ = fmt.Fprintln(table, "stage\tclients\tsent/s\treceipts/s\tlost\town p50\teach p50\tp95\tp99\t"+
		"first p50\tp95\tlast p50\tp95\tp99\tgap p50\tp95\tlateness p99\t")
	for _, stage := range report.Stages {
		seconds := float64(stage.EndUS-stage.BeginUS) / 1e6
		loss := "-"
		if stage.Receipts.Expected > 0 {
			loss = fmt.Sprintf("%.2f %%", 100*float64(stage.Receipts.Lost)/float64(stage.Receipts.Expected))
		}
		h := stage.Histograms
		_, _ = fmt.Fprintf(table, "%s\t%d/%d\t%.0f\t%.0f"+strings.Repeat("\t%s", 13)+"\t\n",
			stage.Name, stage.Clients.Members, stage.Clients.Target,
			float64(stage.Messages.Sent)/seconds, float64(stage.Receipts.Received)/seconds, loss,
			quantile(h.Own, 50), quantile(h.Each, 50), quantile(h.Each, 95), quantile(h.Each, 99), quantile(h.First, 50),
			quantile(h.First, 95), quantile(h.Last, 50), quantile(h.Last, 95), quantile(h.Last, 99), quantile(h.Gap, 50),
			quantile(h.Gap, 95), quantile(h.Lateness, 99))
	}
	_ = table.Flush()
	for _, stage := range report.Stages {
		if o := stage.Outage; o != nil {
			_, _ = fmt.Fprintf(&out, "stage %s, %s killed: %d connections ended, %d clients not back in time, "+
				"%d of %d receipts lost, reconnect p95 %s\n",
				stage.Name, o.Kill, o.Disconnects, o.NotBack, o.Receipts.Lost, o.Receipts.Expected, quantile(o.Reconnect, 95))
		}
	}
	for _, e := range report.Errors {
		_, _ = fmt.Fprintf(&out, "%d x %q\n", e.Count, e.Reason)
	}
	return out.String()
}

func quantile(encoded string, q float64) string {
	h, err := hdrhistogram.Decode([]byte(encoded))
	if err != nil || h.TotalCount() == 0 {
		return "-"
	}
	return (time.Duration(h.ValueAtQuantile(q)) * time.Microsecond).String()
}
