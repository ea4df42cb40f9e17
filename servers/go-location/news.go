package main

import (
	"strconv"

	"github.com/gobwas/ws"
)

// news contains positions. It is made once for all recipients, who get it in the form of their transport.
type news struct {
	version int64
	body    []byte
	event   []byte // made when the first stream needs it
	frame   []byte // made when the first socket needs it
}

func newNews(version int64, positions ...[]byte) *news {
	body := strconv.AppendInt([]byte(`{"version":`), version, 10)
	body = append(body, `,"positions":[`...)
	for i, each := range positions {
		if i > 0 {
			body = append(body, ',')
		}
		body = append(body, each...)
	}
	return &news{version: version, body: append(body, "]}"...)}
}

// asEvent returns the news as a server-sent event.
func (n *news) asEvent() []byte {
	if n.event == nil {
		n.event = strconv.AppendInt([]byte("id: "), n.version, 10)
		n.event = append(append(n.event, "\ndata: "...), n.body...)
		n.event = append(n.event, "\n\n"...)
	}
	return n.event
}

// asFrame returns the news as a text frame of a WebSocket. A server's frames are not masked, so all members may have
// the same.
func (n *news) asFrame() []byte {
	if n.frame == nil {
		n.frame = ws.MustCompileFrame(ws.NewTextFrame(n.body))
	}
	return n.frame
}
