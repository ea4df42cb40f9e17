package msgpack

import (
	"encoding/binary"
	"math"
	"strconv"
	"unicode/utf8"
)

// AppendJSON appends one MessagePack value as JSON text. Binary parts, extensions and non-finite numbers become null,
// because JSON has none; numeric keys become strings. If the data is not such a value, it returns dst unchanged.
func AppendJSON(dst, data []byte) (text []byte, ok bool) {
	r := reader{data: data, out: dst}
	if !r.value(0) || len(r.data) > 0 {
		return dst, false
	}
	return r.out, true
}

type reader struct {
	data []byte // the rest of the data
	out  []byte
}

// take returns the next bytes; nil if there are fewer.
func (r *reader) take(n uint64) []byte {
	if n > uint64(len(r.data)) {
		return nil
	}
	taken := r.data[:n:n]
	r.data = r.data[n:]
	return taken
}

// number reads an unsigned number of that many bytes.
func (r *reader) number(bytes uint64) (n uint64, ok bool) {
	taken := r.take(bytes)
	if taken == nil {
		return 0, false
	}
	for _, b := range taken {
		n = n<<8 | uint64(b)
	}
	return n, true
}

func (r *reader) value(depth int) bool {
	code, ok := r.number(1)
	if !ok || depth > deepest {
		return false
	}
	switch {
	case code < 0x80:
		r.out = strconv.AppendUint(r.out, code, 10)
		return true
	case code < 0x90:
		return r.members(code&0xf, depth)
	case code < 0xa0:
		return r.items(code&0xf, depth)
	case code < 0xc0:
		return r.string(code & 0x1f)
	case code >= 0xe0:
		r.out = strconv.AppendInt(r.out, int64(int8(code)), 10)
		return true
	}
	return r.long(byte(code), depth)
}

// long reads a value whose first byte does not determine it.
func (r *reader) long(code byte, depth int) bool {
	switch {
	case code == 0xc0:
		r.out = append(r.out, "null"...)
	case code == 0xc2:
		r.out = append(r.out, "false"...)
	case code == 0xc3:
		r.out = append(r.out, "true"...)
	case code >= 0xc4 && code <= 0xc6:
		return r.sized(1<<(code-0xc4), r.skip)
	case code >= 0xc7 && code <= 0xc9:
		return r.sized(1<<(code-0xc7), func(n uint64) bool { return r.skip(n + 1) })
	case code == 0xca || code == 0xcb:
		return r.float(code)
	case code >= 0xcc && code <= 0xcf:
		return r.sized(1<<(code-0xcc), func(n uint64) bool {
			r.out = strconv.AppendUint(r.out, n, 10)
			return true
		})
	case code >= 0xd0 && code <= 0xd3:
		bits := 8 << (code - 0xd0)
		return r.sized(uint64(bits/8), func(n uint64) bool {
			r.out = strconv.AppendInt(r.out, int64(n<<(64-bits))>>(64-bits), 10)
			return true
		})
	case code >= 0xd4 && code <= 0xd8:
		return r.skip(1 + 1<<(code-0xd4))
	case code >= 0xd9 && code <= 0xdb:
		return r.sized(1<<(code-0xd9), r.string)
	case code == 0xdc || code == 0xdd:
		return r.sized(2<<(code-0xdc), func(n uint64) bool { return r.items(n, depth) })
	case code == 0xde || code == 0xdf:
		return r.sized(2<<(code-0xde), func(n uint64) bool { return r.members(n, depth) })
	default: // 0xc1 is never used
		return false
	}
	return true
}

// sized reads a number of that many bytes, and calls then with it.
func (r *reader) sized(bytes uint64, then func(n uint64) bool) bool {
	n, ok := r.number(bytes)
	return ok && then(n)
}

// mostWhole is the largest float that is written as a whole number.
const mostWhole = 1e18

// skip skips a value that JSON does not have, and writes null.
func (r *reader) skip(n uint64) bool {
	r.out = append(r.out, "null"...)
	return n <= uint64(len(r.data)) && len(r.take(n)) == int(n)
}

func (r *reader) float(code byte) bool {
	f := 0.0
	if code == 0xca {
		taken := r.take(4)
		if taken == nil {
			return false
		}
		f = float64(math.Float32frombits(binary.BigEndian.Uint32(taken)))
	} else {
		taken := r.take(8)
		if taken == nil {
			return false
		}
		f = math.Float64frombits(binary.BigEndian.Uint64(taken))
	}
	if math.IsInf(f, 0) || math.IsNaN(f) {
		r.out = append(r.out, "null"...)
		return true
	}
	if f == math.Trunc(f) && math.Abs(f) < mostWhole {
		r.out = strconv.AppendInt(r.out, int64(f), 10) // some encoders use floats beyond 32 bits
	} else {
		r.out = strconv.AppendFloat(r.out, f, 'g', -1, 64)
	}
	return true
}

func (r *reader) items(n uint64, depth int) bool {
	r.out = append(r.out, '[')
	for i := range n {
		if i > 0 {
			r.out = append(r.out, ',')
		}
		if !r.value(depth + 1) {
			return false
		}
	}
	r.out = append(r.out, ']')
	return true
}

func (r *reader) members(n uint64, depth int) bool {
	r.out = append(r.out, '{')
	for i := range n {
		if i > 0 {
			r.out = append(r.out, ',')
		}
		if !r.key() {
			return false
		}
		r.out = append(r.out, ':')
		if !r.value(depth + 1) {
			return false
		}
	}
	r.out = append(r.out, '}')
	return true
}

// key reads a string, or a number, as a string.
func (r *reader) key() bool {
	from := len(r.out)
	if !r.value(deepest) {
		return false
	}
	switch first := r.out[from]; {
	case first == '"':
		return true
	case first == '-' || first >= '0' && first <= '9':
		number := append([]byte(nil), r.out[from:]...)
		r.out = append(append(append(r.out[:from], '"'), number...), '"')
		return true
	}
	return false
}

const digits = "0123456789abcdef"

func (r *reader) string(n uint64) bool {
	taken := r.take(n)
	if taken == nil && n > 0 || !utf8.Valid(taken) {
		return false
	}
	r.out = append(r.out, '"')
	from := 0
	for i, c := range taken {
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		r.out = append(r.out, taken[from:i]...)
		if from = i + 1; c < ' ' {
			r.out = append(r.out, '\\', 'u', '0', '0', digits[c>>4], digits[c&0xf])
		} else {
			r.out = append(r.out, '\\', c)
		}
	}
	r.out = append(append(r.out, taken[from:]...), '"')
	return true
}
