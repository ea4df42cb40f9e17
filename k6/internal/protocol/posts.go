package protocol

import (
	"net/url"
	"strconv"
	"time"

	"github.com/pushbench/pushbench/k6/internal/http1"
)

func init() {
	register("posts-http", Protocol{path: "/post", newRequests: newPosts, Receipts: 1})
}

// posts is the protocol posts-http: docs/protocols.md describes it.
type posts struct {
	request http1.Request
	created bool
}

func newPosts(target *url.URL, _ Identity) Requests {
	return &posts{request: http1.Request{
		Method: "POST", Target: target.RequestURI(), Host: target.Host,
		Fields: []http1.Field{{Name: "Content-Type", Value: "application/json"}},
	}}
}

// Request implements Requests, as do the methods below.
func (p *posts) Request(buf []byte, seq uint32, due time.Duration) []byte {
	p.created = false
	body := strconv.AppendUint(append(p.request.Body[:0], `{"title":"post `...), uint64(seq), 10)
	body = strconv.AppendInt(append(body, `","content":"what a client wrote at `...), due.Microseconds(), 10)
	p.request.Body = append(body, ` us"}`...)
	buf, err := p.request.Append(buf)
	if err != nil {
		panic(err) // the URL was parsed before
	}
	return buf
}

func (p *posts) Header(status int, section []byte, event *Event) {
	switch {
	case status != 201:
		event.refuse("HTTP " + strconv.Itoa(status))
	case len(http1.Value(section, "Location")) == 0:
		event.corrupt("a post was created without Location")
	default:
		p.created = true
	}
}

func (p *posts) Body(piece []byte, _ *Event) int { return len(piece) }

func (p *posts) End(event *Event) {
	if p.created {
		event.Kind = Receipt
	}
}
