// Package http1 reads the responses and writes the requests of HTTP/1.1 (RFC 9112) as a client, on byte slices. It does
// no I/O, and copies only header sections that arrive in pieces. It supports no upgrade, no tunnel and no transfer
// coding but chunked.
package http1

import (
	"errors"
	"fmt"
	"io"
)

// MaxHeader bounds the header section of a response, together with those of the informational responses before it. Many
// servers accept as much of a request.
const MaxHeader = 16 << 10

// keptCapacity is how much memory a Reader keeps, after the end of a response, for header sections in pieces.
const keptCapacity = 1 << 10

// Errors of a server that violates the protocol, or uses what this package does not support. The connection must be
// closed.
var (
	ErrTooLarge      = fmt.Errorf("response header larger than %d bytes", MaxHeader)
	ErrStatusLine    = errors.New("malformed status line")
	ErrUpgrade       = errors.New("status 101, but nobody asked for another protocol")
	ErrField         = errors.New("malformed header field")
	ErrSpace         = errors.New("header field with whitespace in its name or before the colon")
	ErrFold          = errors.New("header field that goes on in a second line")
	ErrLength        = errors.New("malformed Content-Length")
	ErrLengths       = errors.New("two different Content-Lengths")
	ErrCoding        = errors.New("Transfer-Encoding other than chunked")
	ErrCoding10      = errors.New("Transfer-Encoding in HTTP/1.0")
	ErrLengthCoding  = errors.New("Content-Length and Transfer-Encoding in one response")
	ErrChunk         = errors.New("malformed chunk")
	ErrChunkTooLarge = fmt.Errorf("chunk larger than %d bytes", int64(maxChunk))
	ErrOverhead      = errors.New("chunks of hardly any data")
	ErrTrailer       = fmt.Errorf("trailer longer than %d bytes, or with a line that ends in a bare LF", maxTrailer)
	ErrAfterLast     = errors.New("data after a response that ends the connection")
)

// Kind is the kind of an Event.
type Kind uint8

// The kinds of events. Each response is one Header, any number of Body, and one End.
const (
	Nothing Kind = iota // all data was taken, and more is needed
	Header              // Data is the status line and the header section; Value finds fields in it
	Body                // Data is the next piece of the body
	End                 // the response is complete
)

// Event is what Next found. Data aliases the argument of Next or the Reader, and is valid until the next call.
type Event struct {
	Kind Kind
	Data []byte
}

// state is the part of a response to which the next byte belongs.
type state uint8

const (
	inHeader state = iota
	inLength       // a body with Content-Length
	inClose        // a body that lasts until the connection ends
	inChunkSize
	inChunkSpace // after the size
	inChunkExtension
	inChunkLine // the LF of the line with the size
	inChunk
	inChunkCR // after the data
	inChunkLF
	inTrailer
	complete // the End is due
	over     // no further response may come
)

// Reader reads the responses of one connection, one after the other. The zero value waits for the first.
type Reader struct {
	// HEAD means that the next response answers a HEAD request. It must be set after the previous response has ended and
	// before that one begins.
	HEAD bool

	state     state
	border    border // border of a section in pieces
	keepAlive bool
	digits    uint8  // digits of a chunk's size
	status    uint16 // status of the response
	line      uint16 // bytes of a line with a chunk's size
	header    uint16 // bytes of informational responses
	overhead  uint16 // bytes of overhead in chunks, beyond fairOverhead
	remaining int64  // bytes of the body or of the chunk
	partial   []byte // start of a section in pieces
}

// Status returns the status code of the response that began last.
func (r *Reader) Status() int { return int(r.status) }

// KeepAlive reports whether another request may be sent once the response that began last has ended.
func (r *Reader) KeepAlive() bool { return r.keepAlive }

// Next reads the next event. It returns how many bytes of data it took: all of them if the event is Nothing. The data
// of the next call begins with the byte after these. The caller checks whether a response was requested.
func (r *Reader) Next(data []byte) (Event, int, error) {
	switch r.state {
	case inHeader:
		return r.readHeader(data)
	case inLength:
		return r.readLength(data)
	case inClose:
		return piece(data), len(data), nil
	case complete:
		return r.end(), 0, nil
	case over:
		if len(data) > 0 {
			return Event{}, 0, ErrAfterLast
		}
		return Event{}, 0, nil
	default:
		return r.readChunked(data)
	}
}

// Close handles the end of the connection. It returns End if that ends the body, Nothing between two responses, and
// io.ErrUnexpectedEOF inside a response.
func (r *Reader) Close() (Event, error) {
	switch {
	case r.state == inClose, r.state == complete:
		r.keepAlive = false
		return r.end(), nil
	case r.state == over, r.state == inHeader && r.header == 0 && len(r.partial) == 0:
		r.state = over
		return Event{}, nil
	}
	return Event{}, io.ErrUnexpectedEOF
}

// readHeader reads the header section of a response; informational responses are skipped.
func (r *Reader) readHeader(data []byte) (event Event, n int, err error) {
	for n < len(data) {
		section, size, err := r.section(data[n:], MaxHeader-int(r.header))
		n += size
		if err != nil || section == nil {
			return Event{}, n, err
		}
		informational, err := r.parse(section)
		if err != nil {
			return Event{}, n, err
		}
		if !informational {
			return Event{Kind: Header, Data: section}, n, nil
		}
		r.header += uint16(len(section))
	}
	return Event{}, n, nil
}

// readLength reads a body with Content-Length.
func (r *Reader) readLength(data []byte) (Event, int, error) {
	n := int(min(int64(len(data)), r.remaining))
	r.remaining -= int64(n)
	if r.remaining == 0 {
		r.state = complete
	}
	return piece(data[:n]), n, nil
}

// piece returns the event of a piece of the body.
func piece(data []byte) Event {
	if len(data) == 0 {
		return Event{}
	}
	return Event{Kind: Body, Data: data}
}

// end ends the response, and prepares for the next one.
func (r *Reader) end() Event {
	r.state, r.header = inHeader, 0
	if cap(r.partial) > keptCapacity {
		r.partial = nil
	}
	if !r.keepAlive {
		r.state = over
	}
	return Event{Kind: End}
}
