// Package declared implements protocols that are data: a declaration defines what clients send and how they recognise
// what a server sends. It is compiled once into byte templates and into conditions on the values at JSON pointers. The
// package never waits, reads clocks or uses sockets.
package declared

// Declaration is a protocol.yml as `pushbench` passes it on: templates are split into their parts, and lengths of text
// are written out. docs/own-server.md describes the file.
type Declaration struct {
	// Format is the format of messages: json, text or msgpack. Templates and patterns of MessagePack are JSON.
	Format      string   `json:"format"`
	Path        Template `json:"path"`
	Query       Template `json:"query"`
	Subprotocol string   `json:"subprotocol"`
	Headers     []Header `json:"headers"`
	// Separator stands between the messages of one frame, and may end the last one. It is empty if a frame is one message.
	Separator string `json:"separator"`
	// Open is the opening before a join, in steps. Join makes a client a member; nil if being connected is enough.
	Open    []Step  `json:"open"`
	Join    *Step   `json:"join"`
	Message Message `json:"message"`
	// Request defines the HTTP request that carries each message; nil if clients are members of groups.
	Request   *Request          `json:"request"`
	Leave     Template          `json:"leave"`
	KeepAlive *KeepAlive        `json:"keep_alive"`
	Error     *Failure          `json:"error"`
	Ignore    []Pattern         `json:"ignore"`
	Secrets   map[string]Secret `json:"secrets"`
	// Rows has the values of each column of a table; each client has a row.
	Rows map[string][]string `json:"rows"`
}

// Template is a text with values in it.
type Template []Part

// Part is a literal, a value (group, client, id, time, any), a secret by its name, or a column of the client's row.
type Part struct {
	Literal string `json:"literal,omitempty"`
	Value   string `json:"value,omitempty"`
	Secret  string `json:"secret,omitempty"`
	Row     string `json:"row,omitempty"`
}

// Header is a field of the opening handshake, or of each request.
type Header struct {
	Name  string   `json:"name"`
	Value Template `json:"value"`
}

// Step is something that a client requests. A Send without parts sends nothing. Without Acknowledged the step counts as
// done.
type Step struct {
	Send         Template `json:"send"`
	Acknowledged *Pattern `json:"acknowledged"`
}

// Message is the message of the suite.
type Message struct {
	Send     Template `json:"send"`
	Received Receipt  `json:"received"`
	// Others means that a message is owed only to the other members.
	Others bool `json:"others"`
}

// Request is a request over HTTP. Message.Send is its body, and Message.Received recognises what the answer owes to the
// client that asked.
type Request struct {
	Method string `json:"method"`
	// Status is the expected status of an answer; any other status means that the request is refused.
	Status int `json:"status"`
	// Stream describes an answer that is a stream of server-sent events; nil if the answer's body is one receipt.
	Stream *Stream `json:"stream"`
}

// Stream is a stream of server-sent events, which owes a number of receipts.
type Stream struct {
	Receipts int `json:"receipts"`
	// Number locates the number of a receipt, from 0: the id of its event, or the JSON pointer of a value. If empty,
	// receipts count in the order in which they arrive.
	Number string `json:"number"`
	// End is the data of the event that ends the stream; empty if the end of the answer ends it.
	End string `json:"end"`
}

// EventID is the Number that stands for the id of the event.
const EventID = "event-id"

// Pattern recognises a message: by the whole text, or by the values in its JSON.
type Pattern struct {
	Like  Template    `json:"like"`
	Where []Condition `json:"where"`
}

// Condition applies to the value at a JSON pointer; the empty pointer is the whole message. Is and Sorted are the JSON
// that the value must equal; in Sorted, the members of objects are sorted by name. Like is the content of an id or a
// time, which may be a string or a number.
type Condition struct {
	At     string   `json:"at"`
	Is     Template `json:"json_is"`
	Sorted Template `json:"json_sorted"`
	Like   Template `json:"like"`
}

// Receipt recognises a delivery. It locates the delivery's id, its time, and what must equal the message sent.
type Receipt struct {
	Pattern
	ID   *Condition  `json:"id"`
	Time *Condition  `json:"time"`
	Same []Condition `json:"same"`
}

// KeepAlive is what a member sends periodically, and what it answers to a message of the server.
type KeepAlive struct {
	EverySeconds float64  `json:"every_seconds"`
	Send         Template `json:"send"`
	Received     *Pattern `json:"received"`
	Answer       Template `json:"answer"`
}

// Failure recognises an error that the server reports.
type Failure struct {
	Pattern
	// Reason is the pointer to the error's text; empty if the whole message is the reason.
	Reason string `json:"reason"`
}

// Secret is the source of a secret: an environment variable that contains it, or one that names a file.
type Secret struct {
	Env     string `json:"env"`
	FileEnv string `json:"file_env"`
}
