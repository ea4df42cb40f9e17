package http1

// Bounds of chunked bodies. The bounds of lines, trailers and overhead are those of net/http.
const (
	// maxChunk is more than any server sends in one chunk.
	maxChunk = 1 << 40
	// maxLine is the longest line with the size of a chunk, its CR LF included.
	maxLine = 4 << 10
	// maxTrailer is the longest trailer section.
	maxTrailer = 4 << 10
	// maxDigits is the largest number of digits in the size of a chunk, leading zeros included.
	maxDigits = 16
	// fairOverhead is how many bytes of a chunk may be overhead, in addition to twice its bytes of data.
	fairOverhead = 16
	// maxOverhead is how many further bytes of overhead are allowed over all chunks.
	maxOverhead = 16 << 10
)

// readChunked reads a chunked body: RFC 9112, section 7.1. Extensions and trailers are skipped.
func (r *Reader) readChunked(data []byte) (event Event, n int, err error) {
	for n < len(data) {
		switch r.state {
		case inChunk:
			size := int(min(int64(len(data)-n), r.remaining))
			r.remaining -= int64(size)
			if r.remaining == 0 {
				r.state = inChunkCR
			}
			return Event{Kind: Body, Data: data[n : n+size]}, n + size, nil
		case inTrailer:
			size, err := r.readTrailer(data[n:])
			n += size
			if err != nil || r.state == inTrailer {
				return Event{}, n, err
			}
			return r.end(), n, nil
		default:
			if err := r.chunkByte(data[n]); err != nil {
				return Event{}, n, err
			}
			n++
		}
	}
	return Event{}, n, nil
}

// chunkByte handles one byte between the data of two chunks.
func (r *Reader) chunkByte(c byte) error {
	switch r.state {
	case inChunkCR:
		return r.expect(c, '\r', inChunkLF)
	case inChunkLF:
		return r.expect(c, '\n', inChunkSize)
	}
	if r.line++; r.line > maxLine {
		return ErrOverhead
	}
	switch {
	case r.state == inChunkLine:
		if c != '\n' {
			return ErrChunk
		}
		return r.beginChunk()
	case r.state == inChunkSize && hex[c] >= 0:
		if r.digits++; r.digits > maxDigits {
			return ErrChunk
		}
		if r.remaining = r.remaining<<4 | int64(hex[c]); r.remaining > maxChunk {
			return ErrChunkTooLarge
		}
	case r.digits == 0:
		return ErrChunk
	case c == '\r':
		r.state = inChunkLine
	case r.state == inChunkExtension:
		if c == '\n' {
			return ErrChunk
		}
	case r.state == inChunkSize && c == ';':
		r.state = inChunkExtension
	case blank(c):
		r.state = inChunkSpace
	default:
		return ErrChunk
	}
	return nil
}

// expect accepts only one byte value, and moves to the next state.
func (r *Reader) expect(c, only byte, next state) error {
	if c != only {
		return ErrChunk
	}
	r.state = next
	return nil
}

// beginChunk continues after the line with the size of a chunk.
func (r *Reader) beginChunk() error {
	overhead := max(0, int64(r.overhead)+int64(r.line)-fairOverhead-2*r.remaining)
	r.line, r.digits = 0, 0
	if r.remaining == 0 {
		r.state, r.border = inTrailer, atLine
		return nil
	}
	if overhead > maxOverhead {
		return ErrOverhead
	}
	r.state, r.overhead = inChunk, uint16(overhead)
	return nil
}

// readTrailer reads what follows the last chunk, up to an empty line, and checks it.
func (r *Reader) readTrailer(data []byte) (n int, err error) {
	section, n, err := r.section(data, maxTrailer)
	if err != nil {
		return n, ErrTrailer
	}
	if section == nil {
		return n, nil
	}
	for line, rest := cutLine(section); ; line, rest = cutLine(rest) {
		if size := len(section) - len(rest); size < len(line)+len("\r\n") {
			return n, ErrTrailer
		}
		if len(line) == 0 {
			r.state = complete
			return n, nil
		}
		if _, _, err := parseField(line); err != nil {
			return n, err
		}
		section = rest
	}
}

// hex is the value of each hexadecimal digit, and -1 for other characters.
var hex = func() (value [256]int8) {
	for c := range value {
		switch c := byte(c); {
		case digit(c):
			value[c] = int8(c - '0')
		case 'a' <= lower(c) && lower(c) <= 'f':
			value[c] = int8(lower(c)-'a') + 10
		default:
			value[c] = -1
		}
	}
	return value
}()
