package http1

import (
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unsafe"
)

const (
	ok      = "HTTP/1.1 200 OK\r\n"
	chunked = ok + "Transfer-Encoding: chunked\r\n\r\n"
	one     = "Content-Length: 1\r\n\r\na"
)

func complete200(body string) response { return response{200, body, true, true} }

// last200 returns a response that ends the connection.
func last200(body string) response { return response{200, body, false, true} }

// accepted are inputs and the expected results.
var accepted = map[string]struct {
	input string
	heads uint8
	want  []response
}{
	"Content-Length":        {ok + "Content-Length: 5\r\n\r\nhello", 0, []response{complete200("hello")}},
	"empty body":            {ok + "Content-Length: 0\r\n\r\n", 0, []response{complete200("")}},
	"no reason":             {"HTTP/1.1 200\r\n" + one, 0, []response{complete200("a")}},
	"empty reason":          {"HTTP/1.1 200 \r\n" + one, 0, []response{complete200("a")}},
	"reason in UTF-8":       {"HTTP/1.1 200 Schön\r\n" + one, 0, []response{complete200("a")}},
	"any case, any space":   {ok + "cONTENT-lENGTH:\t 1 \t\r\n\r\na", 0, []response{complete200("a")}},
	"an empty value":        {ok + "Server:\r\n" + one, 0, []response{complete200("a")}},
	"the same length twice": {ok + "Content-Length: 1\r\nContent-Length: 1 \r\n\r\na", 0, []response{complete200("a")}},
	"bare LF":               {"HTTP/1.1 200 OK\nContent-Length: 5\n\nhello", 0, []response{complete200("hello")}},
	"tabs in a value":       {ok + "A: a\tlong\tenough\tb\r\n" + one, 0, []response{complete200("a")}},
	"both line ends":        {ok + "Content-Length: 5\n\r\nhello", 0, []response{complete200("hello")}},
	"HTTP/1.2":              {"HTTP/1.2 200 OK\r\n" + one, 0, []response{complete200("a")}},

	"chunked": {chunked + "5\r\nhello\r\n0\r\n\r\n", 0, []response{complete200("hello")}},
	"several chunks": {
		chunked + "5\r\nhello\r\n00A\r\n, my world\r\n0\r\n\r\n", 0, []response{complete200("hello, my world")},
	},
	"any case":         {ok + "transfer-encoding: Chunked\r\n\r\n1\r\na\r\n0\r\n\r\n", 0, []response{complete200("a")}},
	"chunk extensions": {chunked + "1;a=b;c=\"d \"\r\na\r\n1 \t\r\nb\r\n0;e\r\n\r\n", 0, []response{complete200("ab")}},
	"chunks of one CR": {chunked + "1\r\n\r\r\n1\r\n\n\r\n0\r\n\r\n", 0, []response{complete200("\r\n")}},
	"trailer":          {chunked + "1\r\na\r\n0\r\nA: b\r\nContent-Length: 7\r\n\r\n", 0, []response{complete200("a")}},
	"an empty chunked": {chunked + "0\r\n\r\n", 0, []response{complete200("")}},
	"chunked and close": {
		ok + "Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n1\r\na\r\n0\r\n\r\n", 0, []response{last200("a")},
	},

	"until the close":       {ok + "\r\nhello", 0, []response{last200("hello")}},
	"nothing until close":   {ok + "\r\n", 0, []response{last200("")}},
	"keep-alive is ignored": {"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\n\r\nhello", 0, []response{last200("hello")}},

	"Connection: close":   {ok + "Connection: Close\r\n" + one, 0, []response{last200("a")}},
	"close in a list":     {ok + "Connection: foo , close\r\n" + one, 0, []response{last200("a")}},
	"close in a second":   {ok + "Connection: a\r\nConnection: close\r\n" + one, 0, []response{last200("a")}},
	"close in the first":  {ok + "Connection: close\r\nConnection: a\r\n" + one, 0, []response{last200("a")}},
	"closed is not close": {ok + "Connection: closed\r\n" + one, 0, []response{complete200("a")}},
	"HTTP/1.0":            {"HTTP/1.0 200 OK\r\n" + one, 0, []response{last200("a")}},
	"HTTP/1.0 keep-alive": {"HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\n" + one, 0, []response{complete200("a")}},

	"HEAD":               {ok + "Content-Length: 5\r\n\r\n", 1, []response{complete200("")}},
	"HEAD of chunks":     {chunked, 1, []response{complete200("")}},
	"HEAD of no length":  {ok + "\r\n", 1, []response{complete200("")}},
	"204":                {"HTTP/1.1 204 No Content\r\n\r\n", 0, []response{{204, "", true, true}}},
	"204 with a length":  {"HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n", 0, []response{{204, "", true, true}}},
	"304 with a length":  {"HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n", 0, []response{{304, "", true, true}}},
	"304 and close":      {"HTTP/1.1 304 No\r\nConnection: close\r\n\r\n", 0, []response{{304, "", false, true}}},
	"205 has a body":     {"HTTP/1.1 205 Reset\r\n" + one, 0, []response{{205, "a", true, true}}},
	"unknown status 999": {"HTTP/1.1 999 What\r\n" + one, 0, []response{{999, "a", true, true}}},

	"informational": {
		"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: a\r\nContent-Length: 3\r\n\r\n" +
			"HTTP/1.1 201 Created\r\n" + one,
		0, []response{{201, "a", true, true}},
	},
	"pipelined": {
		ok + one + chunked + "1\r\nb\r\n0\r\n\r\n" +
			ok + "Content-Length: 9\r\n\r\nHTTP/1.1 204 No\r\n\r\nHTTP/1.1 500 Oh\r\n\r\nthe rest",
		1 << 2,
		[]response{
			complete200("a"), complete200("b"), complete200(""), {204, "", true, true}, {500, "the rest", false, true},
		},
	},
	"nothing at all": {"", 0, nil},
}

func TestResponsesAreReadHoweverTheyAreCut(t *testing.T) {
	for name, c := range accepted {
		t.Run(name, func(t *testing.T) {
			for n := range len(c.input) + 1 { // 0 is not cut
				got := feed(t, c.input, c.heads, at(n))
				if got.err != nil || !slices.Equal(got.responses, c.want) {
					t.Fatalf("cut at %d: %+v, %v, expected %+v", n, got.responses, got.err, c.want)
				}
			}
			if got := feed(t, c.input, c.heads, bytewise); got.err != nil || !slices.Equal(got.responses, c.want) {
				t.Fatalf("byte by byte: %+v, %v, expected %+v", got.responses, got.err, c.want)
			}
		})
	}
}

// refused are inputs and the expected error of each.
var refused = map[string]struct {
	input string
	want  error
}{
	"another protocol":          {"SSH-2.0-OpenSSH_9.6\r\n\r\n", ErrStatusLine},
	"HTTP/2":                    {"HTTP/2.0 200 OK\r\n\r\n", ErrStatusLine},
	"a status of two digits":    {"HTTP/1.1 20 OK\r\n\r\n", ErrStatusLine},
	"a status of four digits":   {"HTTP/1.1 2000 OK\r\n\r\n", ErrStatusLine},
	"a status below 100":        {"HTTP/1.1 099 OK\r\n\r\n", ErrStatusLine},
	"a signed status":           {"HTTP/1.1 +20 OK\r\n\r\n", ErrStatusLine},
	"two spaces":                {"HTTP/1.1  200 OK\r\n\r\n", ErrStatusLine},
	"a bare CR in the reason":   {"HTTP/1.1 200 O\rK\r\n\r\n", ErrStatusLine},
	"an empty line first":       {"\r\nHTTP/1.1 200 OK\r\n\r\n", ErrStatusLine},
	"another protocol accepted": {"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n", ErrUpgrade},

	"no colon":                {ok + "Content-Length 5\r\n\r\n", ErrField},
	"no name":                 {ok + ": 5\r\n\r\n", ErrField},
	"a name that is no token": {ok + "A(: 5\r\n\r\n", ErrField},
	"a bare CR in a value":    {ok + "A: b\rc\r\n\r\n", ErrField},
	"a NUL in a value":        {ok + "A: a long enough value\x00\r\n\r\n", ErrField},
	"an escape in a value":    {ok + "A: a long enough value\x1b, and more\r\n\r\n", ErrField},
	"a DEL in a value":        {ok + "A: \x7f, and a long enough value\r\n\r\n", ErrField},
	"a space before a colon":  {ok + "Content-Length : 5\r\n\r\nhello", ErrSpace},
	"a space in a name":       {ok + "Content Length: 5\r\n\r\nhello", ErrSpace},
	"a space before a name":   {ok + " Content-Length: 5\r\n\r\nhello", ErrFold},
	"obs-fold":                {ok + "A: b\r\n\tc\r\n" + one, ErrFold},

	"two lengths":                 {ok + "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello", ErrLengths},
	"two lengths in a list":       {ok + "Content-Length: 5, 5\r\n\r\nhello", ErrLength},
	"an empty length":             {ok + "Content-Length:\r\n\r\n", ErrLength},
	"a signed length":             {ok + "Content-Length: +5\r\n\r\nhello", ErrLength},
	"a negative length":           {ok + "Content-Length: -5\r\n\r\nhello", ErrLength},
	"a hexadecimal length":        {ok + "Content-Length: 0x5\r\n\r\nhello", ErrLength},
	"a length beyond 63 bits":     {ok + "Content-Length: 18446744073709551617\r\n\r\nh", ErrLength},
	"a length and chunks":         {ok + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n", ErrLengthCoding},
	"chunks and a length":         {ok + "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n", ErrLengthCoding},
	"another coding":              {ok + "Transfer-Encoding: gzip\r\n\r\n", ErrCoding},
	"two codings":                 {ok + "Transfer-Encoding: gzip, chunked\r\n\r\n", ErrCoding},
	"chunked twice":               {ok + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n", ErrCoding},
	"chunked in HTTP/1.0":         {"HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", ErrCoding10},
	"framing of an informational": {"HTTP/1.1 100 OK\r\nTransfer-Encoding: gzip\r\n\r\n", ErrCoding},

	"a chunk without a size":         {chunked + "\r\n", ErrChunk},
	"a chunk of an extension only":   {chunked + ";a\r\n", ErrChunk},
	"a chunk size with a sign":       {chunked + "+1\r\na\r\n", ErrChunk},
	"a chunk size with 0x":           {chunked + "0x1\r\na\r\n", ErrChunk},
	"a chunk size of 17 digits":      {chunked + strings.Repeat("0", 16) + "1\r\na\r\n", ErrChunk},
	"a chunk size with a space":      {chunked + "1 1\r\na\r\n", ErrChunk},
	"a chunk size that ends in LF":   {chunked + "1\na\r\n", ErrChunk},
	"an extension that ends in LF":   {chunked + "1;a\na\r\n", ErrChunk},
	"a bare CR in an extension":      {chunked + "1;a\rb\r\na\r\n", ErrChunk},
	"a chunk longer than its size":   {chunked + "1\r\nab\r\n", ErrChunk},
	"a chunk that ends in LF":        {chunked + "1\r\na\n0\r\n\r\n", ErrChunk},
	"a chunk that ends in CR":        {chunked + "1\r\na\r0\r\n\r\n", ErrChunk},
	"a chunk beyond all files":       {chunked + "10000000001\r\na", ErrChunkTooLarge},
	"a chunk beyond 64 bits":         {chunked + "ffffffffffffffff\r\na", ErrChunkTooLarge},
	"a trailer that is no field":     {chunked + "0\r\nA\r\n\r\n", ErrField},
	"a trailer of bare LF":           {chunked + "0\r\n\n", ErrTrailer},
	"a trailer field with a bare LF": {chunked + "0\r\nA: b\n\r\n", ErrTrailer},

	"data after the last": {ok + "Connection: close\r\nContent-Length: 1\r\n\r\nab", ErrAfterLast},
	"a cut header":        {ok + "Content-Length: 5\r\n", io.ErrUnexpectedEOF},
	"a cut informational": {"HTTP/1.1 100 Continue\r\n\r\n", io.ErrUnexpectedEOF},
	"a cut body":          {ok + "Content-Length: 5\r\n\r\nhell", io.ErrUnexpectedEOF},
	"a cut chunk":         {chunked + "5\r\nhell", io.ErrUnexpectedEOF},
	"no last chunk":       {chunked + "5\r\nhello\r\n", io.ErrUnexpectedEOF},
	"a cut trailer":       {chunked + "5\r\nhello\r\n0\r\n", io.ErrUnexpectedEOF},

	// What a hostile server could make arbitrarily large.
	"a header without end":         {ok + strings.Repeat("A: b\r\n", MaxHeader/6), ErrTooLarge},
	"a status line without end":    {"HTTP/1.1 200 " + strings.Repeat("a", MaxHeader), ErrTooLarge},
	"a header that is too long":    {ok + "A: " + strings.Repeat("b", MaxHeader) + "\r\n\r\n", ErrTooLarge},
	"informational without end":    {strings.Repeat("HTTP/1.1 100 Continue\r\n\r\n", MaxHeader/25+1), ErrTooLarge},
	"an extension without end":     {chunked + "1;" + strings.Repeat("a", maxLine), ErrOverhead},
	"a trailer without end":        {chunked + "0\r\n" + strings.Repeat("A: b\r\n", maxTrailer/6+1), ErrTrailer},
	"a trailer that is too long":   {chunked + "0\r\nA: " + strings.Repeat("b", maxTrailer) + "\r\n\r\n", ErrTrailer},
	"an extension for every chunk": {chunked + strings.Repeat("1;"+strings.Repeat("a", 250)+"\r\na\r\n", 80), ErrOverhead},
}

func TestResponsesAreRefusedHoweverTheyAreCut(t *testing.T) {
	for name, c := range refused {
		t.Run(name, func(t *testing.T) {
			step := 1 + len(c.input)/100 // the long ones are cut at 100 places
			for n := 0; n <= len(c.input); n += step {
				if got := feed(t, c.input, 0, at(n)); !errors.Is(got.err, c.want) {
					t.Fatalf("cut at %d: %v, expected %v", n, got.err, c.want)
				}
			}
			if got := feed(t, c.input, 0, bytewise); !errors.Is(got.err, c.want) {
				t.Fatalf("byte by byte: %v, expected %v", got.err, c.want)
			}
		})
	}
}

func TestWhatIsJustSmallEnoughIsRead(t *testing.T) {
	filled := func(before, after string, size int) string {
		return before + strings.Repeat("b", size-len(before)-len(after)) + after
	}
	for name, input := range map[string]string{
		"header":        filled(ok+"Content-Length: 1\r\nA: ", "\r\n\r\n", MaxHeader) + "a",
		"informational": filled("HTTP/1.1 100 Continue\r\n\r\n"+ok+"Content-Length: 1\r\nA: ", "\r\n\r\n", MaxHeader) + "a",
		"extension":     chunked + filled("1;", "\r\n", maxLine) + "a\r\n0\r\n\r\n",
		"trailer":       chunked + "1\r\na\r\n0\r\n" + filled("A: ", "\r\n\r\n", maxTrailer),
		"single bytes":  chunked + strings.Repeat("1;eleven byte\r\na\r\n", 3_000) + "0\r\n\r\n",
	} {
		for i, c := range []cut{whole, bytewise} {
			if got := feed(t, input, 0, c); got.err != nil || len(got.responses) != 1 || !got.responses[0].complete {
				t.Errorf("%s, cut %d: %v", name, i, got.err)
			}
		}
	}
}

func TestTheOverheadOfChunksIsThatOfOneResponse(t *testing.T) {
	one := chunked + strings.Repeat("1;"+strings.Repeat("a", maxOverhead/5)+"\r\na\r\n", 3) + "0\r\n\r\n"
	if got := feed(t, strings.Repeat(one, 5), 0, whole); got.err != nil || len(got.responses) != 5 {
		t.Errorf("%d responses, %v", len(got.responses), got.err)
	}
}

func TestFieldsAreFoundInAHeader(t *testing.T) {
	header := []byte("HTTP/1.1 201 Created: x\r\nLocation-X: no\r\nlocation: \t/post/17 \r\nLOCATION: /second\n" +
		"Retry-After:\r\nContent-Type:text/event-stream\r\n\r\n")
	for name, want := range map[string]string{
		"Location": "/post/17", "Content-Type": "text/event-stream", "content-type": "text/event-stream", "Retry-After": "",
	} {
		if got := Value(header, name); got == nil || string(got) != want {
			t.Errorf("%s: %q, expected %q", name, got, want)
		}
	}
	for _, name := range []string{"HTTP/1.1 201 Created", "Loc", "Host", ""} {
		if got := Value(header, name); got != nil {
			t.Errorf("%s: %q, expected none", name, got)
		}
	}
}

func TestAHeaderThatComesInPiecesIsHandedOutWhole(t *testing.T) {
	var r Reader
	input := "HTTP/1.1 201 Created\r\nLocation: /post/17\r\nContent-Length: 0\r\n\r\n"
	for i := range input {
		event, _, err := r.Next([]byte{input[i]})
		if last := i == len(input)-1; err != nil || (event.Kind == Header) != last {
			t.Fatalf("byte %d: %d, %v", i, event.Kind, err)
		}
		if event.Kind == Header && (string(event.Data) != input || string(Value(event.Data, "location")) != "/post/17") {
			t.Errorf("%q", event.Data)
		}
	}
}

func TestBodiesAreHandedOutAsTheyArrive(t *testing.T) {
	var r Reader
	var pieces []string
	for _, piece := range []string{chunked + "a\r\nfi", "rst", "", ", sec\r", "\n4\r\nond\r", "\r\n1\r\n!\r\n0\r\n\r\n"} {
		for rest := []byte(piece); ; {
			event, n, err := r.Next(rest)
			if err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
			if event.Kind == Nothing {
				break
			}
			pieces = append(pieces, strconv.Itoa(int(event.Kind))+string(event.Data))
		}
	}
	if want := []string{"1" + chunked, "2fi", "2rst", "2, sec", "2ond\r", "2!", "3"}; !slices.Equal(pieces, want) {
		t.Errorf("%q, expected %q", pieces, want)
	}
}

func TestSmallResponsesAreReadWithoutAllocation(t *testing.T) {
	response := []byte(ok + "Content-Length: 5\r\n\r\nhello" + chunked + "5\r\nhello\r\n0\r\n\r\n")
	for _, size := range []int{len(response), 20, 1} {
		var r Reader
		read := func() {
			for at := 0; at < len(response); at += size {
				for rest := response[at:min(at+size, len(response))]; ; {
					event, n, err := r.Next(rest)
					if err != nil {
						t.Fatal(err)
					}
					if rest = rest[n:]; event.Kind == Nothing {
						break
					}
				}
			}
		}
		if allocations := testing.AllocsPerRun(100, read); allocations != 0 {
			t.Errorf("pieces of %d bytes: %v allocations", size, allocations)
		}
		if size == len(response) && r.partial != nil {
			t.Errorf("%d bytes are held for a response that came whole", cap(r.partial))
		}
	}
}

func TestMemoryForALongHeaderIsGivenBack(t *testing.T) {
	var r Reader
	long := ok + "A: " + strings.Repeat("b", 2*keptCapacity) + "\r\nContent-Length: 0\r\n\r\n"
	for _, piece := range []string{long[:len(long)-1], long[len(long)-1:], ""} {
		if _, _, err := r.Next([]byte(piece)); err != nil {
			t.Fatal(err)
		}
	}
	if cap(r.partial) > keptCapacity {
		t.Errorf("%d bytes are held", cap(r.partial))
	}
}

func TestAReaderIsSmall(t *testing.T) {
	if size := unsafe.Sizeof(Reader{}); size > 64 {
		t.Errorf("%d bytes for each connection", size)
	}
}
