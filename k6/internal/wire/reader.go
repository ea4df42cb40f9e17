package wire

// Kind says what an Event is.
type Kind uint8

// The kinds of events.
const (
	Nothing Kind = iota // all data was taken, and more is needed
	Opened              // the opening handshake is over
	Payload             // Data is a message of text
	Pinged              // Data is what a pong has to return
	Ponged              // Data is what a ping sent, or anything else where nobody asked
	Closed              // Data is the payload of the server's close frame
	Bytes               // Data is a binary message
)

// Event is what Next found. Data aliases what Next was given, or the Reader, and holds until the next call.
type Event struct {
	Kind Kind
	Data []byte
}

// Reader reads what a server sends over one connection: the answer to the opening handshake, then messages and control
// frames. It copies nothing but what arrives in pieces.
type Reader struct {
	handshake *Handshake // nil once it is over
	partial   []byte     // of the answer, or of a frame
	message   Message
}

// NewReader makes a reader that waits for the answer to the handshake.
func NewReader(handshake *Handshake) Reader { return Reader{handshake: handshake} }

// Next reads the next event. It returns how many bytes of data it took, which is all of them when the event is Nothing.
// The data of the next call begins with the byte after these. After an error the connection must be failed.
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

// frame reads the next frame and how many bytes of data it took. Without a payload, which is never nil, there is no
// frame yet.
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
			r.partial = r.partial[:0] // its bytes stay until the next call
			return frame, taken, err
		}
	}
	return Frame{}, taken, nil
}

// missing is how many bytes are needed at least to go on with the incomplete frame in buf.
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

// event is what a frame amounts to: nothing where it is a part of a message.
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
