package wire

// Kind is the kind of an Event.
type Kind uint8

// The kinds of events.
const (
	Nothing Kind = iota // all data was taken, and more is needed
	Opened              // the opening handshake is over
	Payload             // Data is a message of text
	Pinged              // Data must be returned in a pong
	Ponged              // Data is that of a ping, or arbitrary if the pong is unsolicited
	Closed              // Data is the payload of the server's close frame
	Bytes               // Data is a binary message
)

// Event is what Next found. Data aliases the argument of Next or the Reader, and is valid until the next call.
type Event struct {
	Kind Kind
	Data []byte
}

// Reader reads what a server sends over one connection: the answer to the opening handshake, then messages and control
// frames. It copies only what arrives in pieces.
type Reader struct {
	handshake *Handshake // nil once the handshake is over
	partial   []byte     // part of the answer, or of a frame
	message   Message
}

// NewReader makes a reader that waits for the answer to the handshake.
func NewReader(handshake *Handshake) Reader { return Reader{handshake: handshake} }

// Next reads the next event. It returns how many bytes of data it took: all of them if the event is Nothing. The data
// of the next call begins with the byte after these. After an error the connection must be failed.
func (r *Reader) Next(data []byte) (Event, int, error) {
	if r.handshake != nil {
		return r.answer(data)
	}
	for taken := 0; ; {
		frame, n, err := r.frame(data[taken:])
		taken += n
		if err != nil || frame.Payload == nil {
			return Event{}, taken, err
		}
		event, err := r.event(frame)
		if err != nil || event.Kind != Nothing {
			return event, taken, err
		}
	}
}

func (r *Reader) answer(data []byte) (Event, int, error) {
	before := len(r.partial)
	r.partial = append(r.partial, data...)
	size, err := r.handshake.Answer(r.partial)
	if err != nil || size == 0 {
		return Event{}, len(data), err
	}
	r.handshake, r.partial = nil, nil
	return Event{Kind: Opened}, size - before, nil
}

// frame reads the next frame and returns how many bytes of data it took. A nil payload means that there is no frame
// yet.
func (r *Reader) frame(data []byte) (frame Frame, taken int, err error) {
	if len(r.partial) == 0 {
		frame, taken, err = Next(data)
		if err == nil && taken == 0 {
			r.partial = append(r.partial, data...)
			taken = len(data)
		}
		return frame, taken, err
	}
	for taken < len(data) {
		more := min(missing(r.partial), len(data)-taken)
		r.partial = append(r.partial, data[taken:taken+more]...)
		taken += more
		frame, size, err := Next(r.partial)
		if err != nil || size > 0 {
			r.partial = r.partial[:0] // its bytes stay in place until the next call
			return frame, taken, err
		}
	}
	return Frame{}, taken, nil
}

// missing returns how many more bytes are needed, at least, for the incomplete frame in buf.
func missing(buf []byte) int {
	if len(buf) < 2 {
		return 2 - len(buf)
	}
	length, header, err := payloadLength(buf)
	if err != nil || header == 0 {
		return 1
	}
	return header + length - len(buf)
}

// event returns the event of a frame: Nothing if the frame is a part of a message.
func (r *Reader) event(frame Frame) (Event, error) {
	switch frame.Opcode {
	case Ping:
		return Event{Pinged, frame.Payload}, nil
	case Close:
		return Event{Closed, frame.Payload}, nil
	case Pong:
		return Event{Ponged, frame.Payload}, nil
	}
	payload, complete, err := r.message.Add(frame)
	if err != nil || !complete {
		return Event{}, err
	}
	if r.message.Binary() {
		return Event{Bytes, payload}, nil
	}
	return Event{Payload, payload}, nil
}
