package sse

// keptCapacity is how much memory each part of an event keeps for the next one.
const keptCapacity = 4 << 10

// fields are what the lines of an event have set so far.
type fields struct {
	data, name, id []byte
	hasData, hasID bool
}

// parts is an event in progress that has its own memory.
type parts struct {
	fields
	line []byte // an incomplete line
}

// alias sets a field whose value stays in place.
func (r *Reader) alias(f *fields, name fieldName, value []byte) {
	switch name {
	case dataField:
		f.data, f.hasData = value, true
	case eventField:
		f.name = value
	case idField:
		f.id, f.hasID = value, true
	case retryField:
		r.setRetry(value)
	case noField:
	}
}

// keep sets a field to a copy of its value. The lines of the data are joined by LFs.
func (r *Reader) keep(p *parts, name fieldName, value []byte) {
	switch name {
	case dataField:
		if p.hasData {
			p.data = append(p.data, '\n')
		}
		p.data, p.hasData = append(p.data, value...), true
	case eventField:
		p.name = append(p.name[:0], value...)
	case idField:
		p.id, p.hasID = append(p.id[:0], value...), true
	case retryField:
		r.setRetry(value)
	case noField:
	}
}

// check bounds the size of the event so far, and of a line.
func (p *parts) check(line []byte) error {
	if len(line) > MaxEvent || len(p.data)+len(p.name)+len(p.id) > MaxEvent {
		return ErrTooLarge
	}
	return nil
}

// reset drops the event, and memory beyond what small events need. Slices that were handed out remain valid.
func (p *parts) reset() {
	p.hasData, p.hasID = false, false
	for _, part := range []*[]byte{&p.data, &p.name, &p.id, &p.line} {
		*part = (*part)[:0]
		if cap(*part) > keptCapacity {
			*part = nil
		}
	}
}
