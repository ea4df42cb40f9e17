package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// load is the load that the subjects of a comparison play.
type load struct {
	title, unit string // unit of what is counted
	clients     int
	offered     float64  // units a second; 0 if the server sets the pace
	server      []string // arguments of the scripted server
	source      []string // further arguments for subjects that only read
	environment []string // of the subjects
	serverCPUs  []int    // CPUs that the server may use, and the subject; nil for all
	subjectCPUs []int
}

// onBoards has each client draw once a second for its whole board.
func onBoards(clients, board int) load {
	number := strconv.Itoa(board)
	return load{
		title:   fmt.Sprintf("%d deliveries/s: %d clients, boards of %d", clients*board, clients, board),
		unit:    "delivery",
		clients: clients, offered: float64(clients * board),
		source:      []string{"-source", strconv.Itoa(clients), "-board", number},
		environment: []string{"BOARD_SIZE=" + number},
	}
}

// boards compares deliveries over WebSockets.
func (b bench) boards() error {
	push, script := b.push(), b.script("k6/websockets", "cmd/bench-generator/websockets.js")
	at20, err := b.compare(onBoards(clients, 20), push, script, floor)
	if err != nil {
		return err
	}
	printRatio("ratio to k6/websockets", at20.cost(push), at20.cost(script))
	printRatio("the floor's ratio to k6/websockets", at20.cost(floor), at20.cost(script))
	printRatio("memory per client, ratio to k6/websockets", at20.memory(push), at20.memory(script))
	if !at20.sustained(script) {
		fmt.Println("(k6/websockets did not take every delivery at this rate; its cost is that of those it took)")
	}
	at50, err := b.compare(onBoards(clients, 50), push, script, floor)
	if err != nil {
		return err
	}
	printRatio("ratio to the floor at 50,000/s", at50.cost(push), at50.cost(floor))
	if at50.sustained(script) {
		printRatio("ratio to k6/websockets at 50,000/s", at50.cost(push), at50.cost(script))
	}
	return nil
}

// socketIO compares deliveries over Socket.IO with a plain script, and with deliveries over WebSockets alone.
func (b bench) socketIO() error {
	over := []string{"PROTOCOL=whiteboard-socketio"}
	push, alone := b.push(), b.push()
	script := b.script("k6/websockets", "cmd/bench-generator/websockets.js")
	push.environment, script.environment = over, over
	alone.name = "push, plain ws"
	load := onBoards(clients, 20)
	load.title += ", over Socket.IO"
	all, err := b.compare(load, push, script, alone)
	if err != nil {
		return err
	}
	printRatio("ratio to k6/websockets over Socket.IO", all.cost(push), all.cost(script))
	printRatio("ratio to k6/x/push over WebSockets alone", all.cost(push), all.cost(alone))
	if !all.sustained(script) {
		fmt.Println("(k6/websockets did not take every delivery at this rate; its cost is that of those it took)")
	}
	return nil
}

// declared compares deliveries of a declared protocol with those of the built-in client of the same protocol.
func (b bench) declared() error {
	return b.asDeclared(b.push(), "whiteboard", onBoards(clients, 20))
}

// declaredStreams compares tokens in the same way.
func (b bench) declaredStreams() error {
	l := onStreams()
	l.server = append(l.server, "-http")
	return b.asDeclared(b.script("k6/x/push", "cmd/bench-generator/exchanges.js"), "token-stream", l)
}

// declaredRequests compares answers in the same way.
func (b bench) declaredRequests() error {
	l := onPosts()
	l.server = append(l.server, "-http")
	return b.asDeclared(b.script("k6/x/push", "cmd/bench-generator/exchanges.js"), "posts", l)
}

// asDeclared compares a built-in client with the declaration of its protocol.
func (b bench) asDeclared(builtIn subject, declaration string, l load) error {
	file, err := filepath.Abs(filepath.Join(b.sources, "internal", "declared", "testdata", declaration+".json"))
	if err != nil {
		return err
	}
	declared := builtIn
	declared.name = "push, declared"
	declared.environment = []string{"DECLARATION=" + file}
	all, err := b.compare(l, declared, builtIn)
	if err != nil {
		return err
	}
	printRatio("ratio to the built-in client", all.cost(declared), all.cost(builtIn))
	return nil
}

// tls compares deliveries over TLS with those of the same clients without TLS. The clients' CPU time excludes what the
// scripted server needs to encrypt.
func (b bench) tls() error {
	folder, err := os.MkdirTemp("", "bench-generator-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	secured, bare := b.push(), b.push()
	secured.name, secured.authorities = "push, TLS", filepath.Join(folder, "authority.pem")
	all, err := b.compare(onBoards(clients, 20), secured, bare)
	if err != nil {
		return err
	}
	printRatio("ratio to the same without TLS", all.cost(secured), all.cost(bare))
	printRatio("memory per client, ratio to the same without TLS", all.memory(secured), all.memory(bare))
	if !all.sustained(secured) {
		fmt.Println("(over TLS not every delivery was taken at this rate; the cost is that of those that were)")
	}
	return nil
}

// games measures updates of typing games, whose rooms the server names. Six keys in a room make 36 updates.
func (b bench) games() error {
	const players, seats, keys = 3000, 6, 5
	push := b.script("k6/x/push", "scenarios/typing-game.js")
	all, err := b.compare(load{
		title:   fmt.Sprintf("%d updates/s: %d players, rooms of %d", players*keys*seats, players, seats),
		unit:    "update",
		clients: players, offered: players * keys * seats,
		server:      []string{"-games"},
		environment: []string{"RAMP=3"},
	}, push)
	if err == nil && !all.sustained(push) {
		fmt.Println("(not every update that was due was told in this time)")
	}
	return err
}

// streams compares tokens of server-sent events, which each client requests repeatedly. k6/http cannot read a stream
// incrementally: it returns the whole body, and does not see the tokens.
func (b bench) streams() error { return b.overHTTP(onStreams()) }

func onStreams() load {
	const pause = 20 * time.Millisecond
	return load{
		title: fmt.Sprintf("%.0f tokens/s at most: %d clients, %s between two tokens", clients/pause.Seconds(),
			clients, pause),
		unit: "token", clients: clients,
		server:      []string{"-gap", pause.String()},
		environment: []string{"PROTOCOL=token-stream-sse"},
	}
}

// requests compares posts, which are due at a fixed rate.
func (b bench) requests() error { return b.overHTTP(onPosts()) }

func onPosts() load {
	const rate = 5000
	return load{
		title: fmt.Sprintf("%d requests/s: %d clients", rate, clients), unit: "request", clients: clients,
		offered:     rate,
		environment: []string{"PROTOCOL=posts-http", "RATE=" + strconv.Itoa(rate)},
	}
}

func (b bench) overHTTP(l load) error {
	push := b.script("k6/x/push", "cmd/bench-generator/exchanges.js")
	script := b.script("k6/http", "cmd/bench-generator/http.js")
	l.server = append(l.server, "-http")
	all, err := b.compare(l, push, script, floor)
	if err != nil {
		return err
	}
	printRatio("ratio to k6/http", all.cost(push), all.cost(script))
	printRatio("memory per client, ratio to k6/http", all.memory(push), all.memory(script))
	if !all.sustained(script) {
		fmt.Printf("(k6/http did not keep up with this rate; its cost is that of each %s that it got)\n", l.unit)
	}
	printRatio("ratio to the floor", all.cost(push), all.cost(floor))
	return nil
}

// variables returns the environment variables that describe a load to the subjects.
func (l load) variables(url string, seconds float64) []string {
	return append([]string{
		"URL=" + strings.TrimSpace(url), "CLIENTS=" + strconv.Itoa(l.clients), fmt.Sprintf("SECONDS=%.0f", seconds),
	}, l.environment...)
}
