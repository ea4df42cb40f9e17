package http1

import (
	"bufio"
	"errors"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// reference returns the result of net/http for the input. closed means that there is data after a response that ends
// the connection.
func reference(input string, heads uint8) (got reading, closed bool) {
	rest := strings.NewReader(input)
	buffered := bufio.NewReader(rest)
	for informational := false; ; {
		if _, err := buffered.Peek(1); err != nil {
			if informational {
				got.err = io.ErrUnexpectedEOF
			}
			return got, false
		}
		request := &http.Request{Method: http.MethodGet}
		if heads>>min(len(got.responses), 7)&1 != 0 {
			request.Method = http.MethodHead
		}
		found, err := http.ReadResponse(buffered, request)
		if err != nil {
			got.err = err
			return got, false
		}
		informational = found.StatusCode >= 100 && found.StatusCode < 200 && found.StatusCode != http.StatusSwitchingProtocols
		if informational {
			continue
		}
		body, err := io.ReadAll(found.Body)
		got.err = err
		complete := err == nil
		got.responses = append(got.responses, response{found.StatusCode, string(body), !found.Close && complete, complete})
		if err != nil || found.Close {
			return got, err == nil && buffered.Buffered()+rest.Len() > 0
		}
	}
}

// heads returns the header sections at the beginning of a text, up to the first that is not informational.
func heads(text string) (found []string) {
	for {
		end := regexp.MustCompile(`\n\r?\n`).FindStringIndex(text)
		if end == nil {
			return append(found, text)
		}
		found = append(found, text[:end[1]])
		if !regexp.MustCompile(`^\S+ +1\d\d`).MatchString(text) {
			return found
		}
		text = text[end[1]:]
	}
}

// inHeads reports whether a header section matches the patterns, in any case.
func inHeads(patterns ...string) func(string) bool {
	return func(text string) bool {
		return slices.ContainsFunc(heads(text), func(head string) bool {
			return !slices.ContainsFunc(patterns, func(pattern string) bool {
				return !regexp.MustCompile(`(?im)` + pattern).MatchString(head)
			})
		})
	}
}

// stricter are the errors for inputs that net/http accepts, each with a condition that the input, from the response on,
// must then meet.
var stricter = map[error]func(string) bool{
	// net/http takes any number of spaces, signed and three-digit numbers such as +12 and 007, any version, and any
	// reason.
	ErrStatusLine: func(text string) bool {
		return slices.ContainsFunc(heads(text), func(head string) bool {
			return !regexp.MustCompile(`^HTTP/1\.\d [1-9]\d\d( [\t\x20-\x7e\x80-\x{10ffff}]*)?\r?\n`).MatchString(head)
		})
	},
	// The client requests no other protocol here; net/http leaves the check to its caller.
	ErrUpgrade: inHeads(`\A\S+ +101`),
	// These smuggle responses. net/http repairs them, as RFC 9112 allows user agents to.
	ErrSpace: func(text string) bool { return regexp.MustCompile(`(?m)^[^:\r\n]*[ \t][^:\r\n]*:`).MatchString(text) },
	ErrFold:  func(text string) bool { return regexp.MustCompile(`(?m)^[ \t]`).MatchString(text) },
	// RFC 9112, section 6.1: faulty framing. net/http ignores the coding.
	ErrCoding10: inHeads(`\AHTTP/1\.0 `, `^transfer-encoding:`),
	// RFC 9112, section 6.3: "ought to be handled as an error". net/http ignores the length.
	ErrLengthCoding: inHeads(`^transfer-encoding:`, `^content-length:`),
	// net/http would wait for that many bytes.
	ErrChunkTooLarge: func(text string) bool {
		return regexp.MustCompile(`(?i)\n0*[1-9a-f][0-9a-f]{10}`).MatchString(text)
	},
	// net/http leaves the bound to its Transport.
	ErrTooLarge: func(text string) bool { return len(strings.Join(heads(text), "")) > MaxHeader },
	// RFC 9112, section 7.1, has no bare LF in chunked bodies. net/http accepts it in trailers if CR LF CR LF follows
	// somewhere.
	ErrTrailer: func(text string) bool {
		return regexp.MustCompile(`\n0+[ \t]*(;[^\n]*)?\r\n([^\r\n]+\r\n)*[^\r\n]*\n`).MatchString(text)
	},
}

// laxer is what net/http rejects although it is harmless here: a field that announces trailers which may not be
// trailers. This package ignores trailers.
var laxer = inHeads(`^trailer:.*(content-length|transfer-encoding|trailer)`)

// FuzzReader compares the reader with net/http, and all ways of cutting the input with each other. The first @ of the
// data is replaced by grow bytes, so that small data reaches the limits on large input.
func FuzzReader(f *testing.F) {
	for _, c := range accepted {
		f.Add([]byte(c.input), c.heads, uint16(0), uint64(1))
	}
	for _, c := range refused {
		if len(c.input) < 1<<10 {
			f.Add([]byte(c.input), uint8(0), uint16(0), uint64(2))
		}
	}
	for _, text := range []string{
		"HTTP/1.1 200 @\r\n" + one, ok + "A: @\r\n" + one, "HTTP/1.1 103 @\r\n\r\n" + ok + one, ok + "\r\n@",
		chunked + "3e8\r\n@\r\n0\r\n\r\n", chunked + "1;@\r\na\r\n0\r\n\r\n", chunked + "0\r\nA: @\r\n\r\n",
	} {
		for _, grow := range []uint16{1000, maxTrailer, MaxHeader} {
			f.Add([]byte(text), uint8(0), grow, uint64(3))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, heads uint8, grow uint16, seed uint64) {
		input := strings.Replace(string(data), "@", strings.Repeat("b", int(grow)), 1)
		got := feed(t, input, heads, whole)
		for _, c := range []cut{bytewise, at(int(seed % uint64(len(input)+1))), randomly(seed)} {
			other := feed(t, input, heads, c)
			if !errors.Is(other.err, got.err) || !slices.Equal(other.responses, got.responses) {
				t.Fatalf("%q:\nwhole %+v\ncut   %+v", input, got, other)
			}
		}
		want, closed := reference(input, heads)
		agree(t, input, got, want, closed)
	})
}

// agree fails unless both readings are the same or differ as described above.
func agree(t *testing.T, input string, got, want reading, closed bool) {
	t.Helper()
	same := slices.Equal(got.responses, want.responses)
	switch {
	case got.err == nil:
		same = same && want.err == nil && !closed
	case errors.Is(got.err, ErrAfterLast):
		same = same && closed
	default:
		same = same && want.err != nil
	}
	n := len(got.responses)
	if n > 0 && !got.responses[n-1].complete {
		n--
	}
	begin := len(want.responses) >= n && slices.Equal(got.responses[:n], want.responses[:n])
	strict := stricter[got.err]
	if !same && !(begin && strict != nil && strict(input[got.begun:])) && !laxer(input) {
		t.Fatalf("%q:\ngot      %+v\nnet/http %+v, data after the last: %v", input, got, want, closed)
	}
}
