package http1

import (
	"errors"
	"strconv"
)

// Errors of a request that a server would not read as intended.
var (
	ErrMethod       = errors.New("method that is no token")
	ErrTarget       = errors.New("target or host that is empty, or has spaces, control characters or other than ASCII")
	ErrRequestField = errors.New("request field with a malformed name or value")
	ErrFraming      = errors.New("request field that the writer itself sets")
)

// Field is one header field of a request.
type Field struct{ Name, Value string }

// Request is one request. Its target is what follows the method, for example /stream?n=1.
type Request struct {
	Method, Target, Host string
	Fields               []Field
	Body                 []byte
}

// Append adds the request to dst and returns the extended slice; on error, it returns dst unchanged. It writes Host,
// and also Content-Length if there is a body or the method expects one: RFC 9110, section 8.6.
func (q *Request) Append(dst []byte) ([]byte, error) {
	if err := q.check(); err != nil {
		return dst, err
	}
	dst = append(append(append(dst, q.Method...), ' '), q.Target...)
	dst = append(append(append(dst, " HTTP/1.1\r\nHost: "...), q.Host...), "\r\n"...)
	for i := range q.Fields {
		dst = append(append(dst, q.Fields[i].Name...), ": "...)
		dst = append(append(dst, q.Fields[i].Value...), "\r\n"...)
	}
	if len(q.Body) > 0 || q.Method == "POST" || q.Method == "PUT" || q.Method == "PATCH" {
		dst = strconv.AppendInt(append(dst, "Content-Length: "...), int64(len(q.Body)), 10)
		dst = append(dst, "\r\n"...)
	}
	return append(append(dst, "\r\n"...), q.Body...), nil
}

// check rejects anything that would end a line, or change how the request is framed.
func (q *Request) check() error {
	switch {
	case !isToken(q.Method):
		return ErrMethod
	case !visible(q.Target) || !visible(q.Host):
		return ErrTarget
	}
	for i := range q.Fields {
		field := &q.Fields[i]
		if !isToken(field.Name) || !plain(field.Value) {
			return ErrRequestField
		}
		for _, name := range [...]string{"Host", "Content-Length", "Transfer-Encoding", "Upgrade"} {
			if equalFold(field.Name, name) {
				return ErrFraming
			}
		}
	}
	return nil
}

func isToken(text string) bool {
	for i := range len(text) {
		if !token[text[i]] {
			return false
		}
	}
	return text != ""
}

func visible(text string) bool {
	for i := range len(text) {
		if text[i] <= ' ' || text[i] >= 0x7f {
			return false
		}
	}
	return text != ""
}
