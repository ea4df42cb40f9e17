package main

import (
	"context"
	"net"
	"net/http"
	"time"
)

// stream is a client of server-sent events.
type stream struct{ outbox *outbox }

func (s *stream) tell(told *news) { s.outbox.push(told.asEvent()) }

// respondEvents returns when the client leaves or the server stops.
func (s *server) respondEvents(response http.ResponseWriter, request *http.Request, at place) {
	version, _, err := parseVersion(request.Header.Values("Last-Event-ID"))
	if err != nil {
		refuse(response, http.StatusBadRequest, err.Error())
		return
	}
	controller := http.NewResponseController(response)
	// A deadline in the past ends a write that waits for the client.
	client := &stream{newOutbox(func() { _ = controller.SetWriteDeadline(time.Unix(1, 0)) })}
	stop := context.AfterFunc(request.Context(), func() { client.outbox.end(nil) })
	defer stop()
	s.groups.with(at.group, func(g *group) {
		client.tell(g.since(at.user, version))
		g.listen(client, at.user)
	})
	defer s.groups.with(at.group, func(g *group) { g.leave(client) })
	response.Header().Set("Content-Type", "text/event-stream")
	response.Header().Set("Cache-Control", "no-cache")
	send(client.outbox, response, controller)
}

// send writes until the outbox ends or the connection breaks.
func send(outbox *outbox, response http.ResponseWriter, controller *http.ResponseController) {
	var batch net.Buffers
	for {
		batch = outbox.next(batch)
		if len(batch) == 0 {
			return
		}
		for _, event := range batch {
			if _, err := response.Write(event); err != nil {
				return
			}
		}
		if err := controller.Flush(); err != nil {
			return
		}
	}
}
