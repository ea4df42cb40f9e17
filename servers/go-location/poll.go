package main

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

const maxWaitSeconds = 25

// waiter is a poll that is held.
type waiter struct{ news chan struct{} }

func (w *waiter) tell(*news) {
	select {
	case w.news <- struct{}{}:
	default: // it has been notified already
	}
}

// respondPoll answers with the newest positions, once there are any or the time is over.
func (s *server) respondPoll(response http.ResponseWriter, request *http.Request, at place) {
	query, _ := url.ParseQuery(request.URL.RawQuery) // it was parsed before, for the user
	version, known, err := parseVersion(query["since"])
	if err != nil {
		refuse(response, http.StatusBadRequest, err.Error())
		return
	}
	wait, held, err := parseInteger(query["wait"], maxWaitSeconds)
	if err != nil || held && wait == 0 {
		refuse(response, http.StatusBadRequest, "wait must be an integer from 1 to 25")
		return
	}
	if held && known {
		s.hold(request, at, version, time.Duration(wait)*time.Second)
	}
	var found *news
	s.groups.with(at.group, func(g *group) { found = g.since(at.user, version) })
	response.Header().Set("Content-Type", "application/json")
	response.Header().Set("Cache-Control", "no-store")
	_, _ = response.Write(found.body)
}

// hold returns when there is news, the time is over, the client has left or the server stops.
func (s *server) hold(request *http.Request, at place, version int64, wait time.Duration) {
	client := &waiter{make(chan struct{}, 1)}
	waits := false
	s.groups.with(at.group, func(g *group) {
		if waits = !g.hasSince(at.user, version); waits {
			g.listen(client, at.user)
		}
	})
	if !waits {
		return
	}
	defer s.groups.with(at.group, func(g *group) { g.leave(client) })
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-client.news:
	case <-timer.C:
	case <-request.Context().Done():
	}
}

// parseVersion reads the optional version after which a client wants news.
func parseVersion(values []string) (version int64, known bool, err error) {
	version, known, err = parseInteger(values, maxInteger)
	if err != nil {
		err = errors.New("since must be an integer from 0 to 2^53 - 1")
	}
	return version, known, err
}

// parseInteger accepts one value in decimal digits, without a sign or a leading zero, or none.
func parseInteger(values []string, most int64) (number int64, there bool, err error) {
	if len(values) == 0 {
		return 0, false, nil
	}
	number, err = strconv.ParseInt(values[0], 10, 64)
	if err == nil && (len(values) > 1 || number < 0 || number > most || strconv.FormatInt(number, 10) != values[0]) {
		err = strconv.ErrRange
	}
	return number, true, err
}
