package protocol

import (
	"net/url"
	"strconv"
	"time"

	"github.com/pushbench/pushbench/k6/internal/http1"
)

func init() {
	register("presence-http", Protocol{path: "/presence", newRequests: newPresence, Receipts: 1})
}

// presence is the protocol presence-http: each POST is answered by the number of those who are there.
type presence struct {
	request http1.Request
	said    []byte
}

func newPresence(target *url.URL, _ Identity) Requests {
	return &presence{request: http1.Request{Method: "POST", Target: target.RequestURI(), Host: target.Host}}
}

func (p *presence) Request(buf []byte, seq uint32, _ time.Duration) []byte {
	p.said = p.said[:0]
	p.request.Body = strconv.AppendUint(p.request.Body[:0], uint64(seq), 10)
	buf, err := p.request.Append(buf)
	if err != nil {
		panic(err) // a URL that was parsed
	}
	return buf
}

func (p *presence) Header(status int, _ []byte, event *Event) {
	if status != 200 {
		event.refuse("HTTP " + strconv.Itoa(status))
	}
}

func (p *presence) Body(piece []byte, _ *Event) int {
	p.said = append(p.said, piece...)
	return len(piece)
}

func (p *presence) End(event *Event) {
	if _, err := strconv.Atoi(string(p.said)); err != nil {
		event.corrupt("an answer that is no number")
		return
	}
	event.Kind = Receipt
}
