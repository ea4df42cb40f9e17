package engine

import (
	"runtime"
	"sort"
	"strings"

	"github.com/pushbench/pushbench/k6/internal/clock"
	"github.com/pushbench/pushbench/k6/internal/ledger"
)

// Version of the extension, reported with every load.
const Version = "0.1.0"

// Report is the load report, schema 6. docs/schemas/load-report.json describes every field.
type Report struct {
	Schema             int            `json:"schema"`
	Generator          Versions       `json:"generator"`
	Protocol           string         `json:"protocol"`
	URL                string         `json:"url"`
	Seed               uint64         `json:"seed"`
	Segment            string         `json:"segment"`
	Parameters         map[string]any `json:"parameters"`
	StartedUnixUS      int64          `json:"started_unix_us"`
	StartedMonotonicUS int64          `json:"started_monotonic_us"`
	Stages             []StageReport  `json:"stages"`
	Timeline           Timeline       `json:"timeline"`
	Errors             []ErrorCount   `json:"errors"`
	Shortages          []ErrorCount   `json:"shortages"`
}

// Versions are the versions of the generator.
type Versions struct {
	Extension string `json:"extension"`
	K6        string `json:"k6"`
	Go        string `json:"go"`
}

// StageReport is one stage.
type StageReport struct {
	Name       string         `json:"name"`
	Parameters map[string]any `json:"parameters"`
	BeginUS    int64          `json:"begin_us"`
	EndUS      int64          `json:"end_us"`
	Clients    Clients        `json:"clients"`
	Messages   Messages       `json:"messages"`
	Receipts   Receipts       `json:"receipts"`
	Arrived    int64          `json:"arrived"` // receipts that arrived in the steady window, whenever they were due
	Traffic    Traffic        `json:"traffic"`
	Rooms      *Rooms         `json:"rooms,omitempty"` // if the server names the groups
	SpunUS     int64          `json:"spun_us"`         // time that event loops polled the kernel without an event
	Histograms Histograms     `json:"histograms"`
	// Beside are the exchanges beside the first, by name. Everything above covers the first exchange only, except the
	// lateness, which covers all.
	Beside map[string]BesideReport `json:"beside,omitempty"`
	// Outage is nil if nothing is killed. The messages, receipts and latencies above exclude those of its window.
	Outage *OutageReport `json:"outage,omitempty"`
}

// Clients are counted at the end of the steady window, Late at its beginning.
type Clients struct {
	Target          int64 `json:"target"`
	Playing         int64 `json:"playing"` // connected or trying to connect
	Late            int64 `json:"late"`    // due to connect but not members yet
	Connected       int64 `json:"connected"`
	Members         int64 `json:"members"`
	Groups          int64 `json:"groups"`
	ConnectFailures int64 `json:"connect_failures"`
	Disconnects     int64 `json:"disconnects"`
}

// Messages counts the messages due in the steady window.
type Messages struct {
	Due    int64 `json:"due"`
	Sent   int64 `json:"sent"`
	Unsent int64 `json:"unsent"`
}

// Receipts are the ledger's counts.
type Receipts struct {
	Expected   int64 `json:"expected"`
	Received   int64 `json:"received"`
	Lost       int64 `json:"lost"`
	Duplicate  int64 `json:"duplicate"`
	OutOfOrder int64 `json:"out_of_order"`
	Ineligible int64 `json:"ineligible"`
	Corrupt    int64 `json:"corrupt"`
	Superseded int64 `json:"superseded"`
}

// Traffic is the TCP payload of the clients' sockets, in a steady window or in a second.
type Traffic struct {
	SentBytes     int64 `json:"sent_bytes"`
	ReceivedBytes int64 `json:"received_bytes"`
}

func (t *Traffic) add(other Traffic) {
	t.SentBytes += other.SentBytes
	t.ReceivedBytes += other.ReceivedBytes
}

func (t Traffic) since(before Traffic) Traffic {
	return Traffic{t.SentBytes - before.SentBytes, t.ReceivedBytes - before.ReceivedBytes}
}

// Histograms are encoded HdrHistograms of microseconds. Those that do not apply to the load's exchanges are empty.
type Histograms struct {
	Own      string `json:"own,omitempty"`
	Each     string `json:"each,omitempty"`
	First    string `json:"first,omitempty"`
	Last     string `json:"last,omitempty"`
	Gap      string `json:"gap,omitempty"`
	Lateness string `json:"lateness"`
	Connect  string `json:"connect"`
}

// Timeline has one entry a second, by time of arrival. Expected and Lost count the messages that were due in that
// second.
type Timeline struct {
	Clients       []int64   `json:"clients"`
	Sent          []int64   `json:"sent"`
	Received      []int64   `json:"received"`
	Latency       []*string `json:"latency"` // latency of the headline
	Expected      []int64   `json:"expected"`
	Lost          []int64   `json:"lost"`
	SentBytes     []int64   `json:"sent_bytes"`
	ReceivedBytes []int64   `json:"received_bytes"`
}

func (t *Timeline) add(second *Second, headline string) {
	t.Clients = append(t.Clients, second.Clients)
	t.Sent = append(t.Sent, second.Sent)
	t.Received = append(t.Received, second.Received)
	t.SentBytes = append(t.SentBytes, second.SentBytes)
	t.ReceivedBytes = append(t.ReceivedBytes, second.ReceivedBytes)
	var encoded *string
	if latency := second.Latencies()[headline]; latency != nil && latency.Count() > 0 {
		if text, err := latency.Encode(); err == nil {
			encoded = &text
		}
	}
	t.Latency = append(t.Latency, encoded)
}

// ErrorCount counts a failure that clients observed.
type ErrorCount struct {
	Reason string `json:"reason"`
	Count  int64  `json:"count"`
}

// Report returns the load report once the load is over. Stages whose steady window was not played to its end are left
// out. K6 is the version of the k6 that plays.
func (e *Engine) Report(k6 string, parameters map[string]any) (*Report, error) {
	<-e.finished
	r := &Report{
		Schema:    6,
		Generator: Versions{Version, k6, runtime.Version()},
		Protocol:  e.config.Protocol, URL: e.config.URL, Seed: e.config.Seed, Segment: e.config.Segment,
		Parameters:         parameters,
		StartedUnixUS:      e.origin.UnixMicro(),
		StartedMonotonicUS: clock.Monotonic() - e.now().Microseconds(),
		Timeline:           e.timeline(),
		Stages:             []StageReport{},
		Errors:             e.collector.counted(e.collector.reasons),
		Shortages:          e.collector.counted(e.collector.shortages),
	}
	for i := range e.played() {
		stage, err := e.stageReport(i)
		if err != nil {
			return nil, err
		}
		r.Stages = append(r.Stages, stage)
	}
	return r, nil
}

// timeline returns the collector's timeline, completed with the lost messages, which only the ledgers count and only at
// the end.
func (e *Engine) timeline() Timeline {
	t := e.collector.timeline
	t.Expected, t.Lost = make([]int64, len(t.Sent)), make([]int64, len(t.Sent))
	for _, l := range e.loops {
		for second, owing := range l.ledger.Seconds() {
			t.Expected[second] += owing.Expected
			t.Lost[second] += owing.Lost
		}
	}
	return t
}

func (e *Engine) stageReport(i int) (StageReport, error) {
	counts := e.counts(i)
	var passed passage
	var late int64
	sum := newLatencies(e.protocol.Requests())
	for _, l := range e.loops {
		passed.add(l.passed(i))
		sum.add(l.stages[i])
		late += l.late[i]
	}
	planned := e.config.Schedule.Stages[i]
	stage := StageReport{
		Name: planned.Name, Parameters: planned.Parameters,
		BeginUS: e.windows[i].Begin.Microseconds(), EndUS: e.windows[i].End.Microseconds(),
		Clients:  e.clients(i),
		Messages: messagesOf(counts),
		Receipts: receiptsOf(counts),
		Arrived:  passed.arrived,
		Traffic:  passed.Traffic,
		Rooms:    e.rooms(i),
		SpunUS:   passed.spun.Microseconds(),
	}
	stage.Clients.Late = late
	stage.Clients.Target = int64(planned.Clients)
	if err := sum.encode(&stage.Histograms); err != nil {
		return stage, err
	}
	var err error
	if stage.Beside, err = e.besideReports(i); err != nil {
		return stage, err
	}
	stage.Outage, err = e.outageReport(i)
	return stage, err
}

// counts returns the sum of an account over all loops.
func (e *Engine) counts(account int) ledger.Counts {
	var counts ledger.Counts
	for _, l := range e.loops {
		counts.Add(l.ledger.Stage(account))
	}
	return counts
}

func messagesOf(counts ledger.Counts) Messages {
	return Messages{counts.Due, counts.Sent, counts.Unsent}
}

func receiptsOf(counts ledger.Counts) Receipts {
	return Receipts{
		counts.Expected, counts.Received, counts.Lost(),
		counts.Duplicate, counts.OutOfOrder, counts.Ineligible, counts.Corrupt, counts.Superseded,
	}
}

// counted lists reasons, the most frequent first.
func (c *collector) counted(reasons map[string]int64) []ErrorCount {
	c.mu.Lock()
	defer c.mu.Unlock()
	list := make([]ErrorCount, 0, len(reasons))
	for reason, count := range reasons {
		list = append(list, ErrorCount{strings.ToValidUTF8(reason, "?"), count})
	}
	sort.Slice(list, func(i, j int) bool {
		if list[i].Count != list[j].Count {
			return list[i].Count > list[j].Count
		}
		return list[i].Reason < list[j].Reason
	})
	return list
}
