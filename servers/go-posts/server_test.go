package main

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// memory is a store of posts that can be made unavailable.
type memory struct {
	kept []post
	away bool
}

var errAway = errors.New("away")

func (m *memory) insert(_ context.Context, title, content string) (int64, error) {
	if m.away {
		return 0, errAway
	}
	no := int64(len(m.kept) + 1)
	m.kept = append(m.kept, post{no, title, content})
	return no, nil
}

func (m *memory) find(_ context.Context, no int64) (post, error) {
	if m.away {
		return post{}, errAway
	}
	if no < 1 || no > int64(len(m.kept)) {
		return post{}, errNoPost
	}
	return m.kept[no-1], nil
}

func (m *memory) use() poolUse { return poolUse{active: 2, waiting: 3} }

func (m *memory) close() {}

const (
	goodPost = `{"title":"t","content":"c"}`
	jsonType = "application/json"
)

func ask(posts posts, method, path, contentType, body string) *httptest.ResponseRecorder {
	request := httptest.NewRequest(method, path, strings.NewReader(body))
	if contentType != "" {
		request.Header.Set("Content-Type", contentType)
	}
	response := httptest.NewRecorder()
	newServer(posts).http.Handler.ServeHTTP(response, request)
	return response
}

func TestAPostIsSavedAndRead(t *testing.T) {
	posts := &memory{}
	created := ask(posts, "POST", "/post", "application/json;charset=UTF-8", goodPost)
	if created.Code != 201 || created.Header().Get("Location") != "/post/1" || created.Body.Len() > 0 {
		t.Errorf("answered with %d %v %s", created.Code, created.Header(), created.Body)
	}
	read := ask(posts, "GET", "/post/1", "", "")
	if read.Code != 200 || read.Body.String() != `{"no":1,"title":"t","content":"c"}` {
		t.Errorf("answered with %d %s", read.Code, read.Body)
	}
}

func TestWhatIsWrongIsRefused(t *testing.T) {
	atLimit := goodPost + strings.Repeat(" ", 64*1024-len(goodPost))
	if response := ask(&memory{}, "POST", "/post", jsonType, atLimit); response.Code != 201 {
		t.Errorf("a body at the limit: answered with %d", response.Code)
	}
	for name, test := range map[string]struct {
		method, path, contentType, body string
		status                          int
		reason                          string
	}{
		"a bad post":         {"POST", "/post", jsonType, "{}", 400, badContent + ", " + badTitle},
		"a number too large": {"GET", "/post/9223372036854775808", "", "", 404, "not found"},
		"a negative number":  {"GET", "/post/-1", "", "", 404, "not found"},
		"no number":          {"GET", "/post/", "", "", 404, "not found"},
		"no post":            {"GET", "/post/2", "", "", 404, "not found"},
		"another path":       {"GET", "/posts", "", "", 404, "not found"},
		"a method of a path": {"PUT", "/post", "", "", 405, "method not allowed"},
		"a method of a post": {"DELETE", "/post/1", "", "", 405, "method not allowed"},
		"a large body":       {"POST", "/post", jsonType, atLimit + " ", 413, "a body must have at most 65536 bytes"},
		"plain text":         {"POST", "/post", "text/plain", goodPost, 415, "the Content-Type must be application/json"},
		"no type":            {"POST", "/post", "", goodPost, 415, "the Content-Type must be application/json"},
	} {
		response := ask(&memory{}, test.method, test.path, test.contentType, test.body)
		assertRefused(t, name, response, test.status, test.reason)
	}
}

func TestOtherMethodsAreToldWhichAreAllowed(t *testing.T) {
	for path, allowed := range map[string]string{"/post": "POST", "/post/1": "GET, HEAD"} {
		if said := ask(&memory{}, "PUT", path, "", "").Header().Get("Allow"); said != allowed {
			t.Errorf("%s: allows %q", path, said)
		}
	}
}

func TestADatabaseThatIsAwayIsSaid(t *testing.T) {
	posts := &memory{away: true}
	for name, response := range map[string]*httptest.ResponseRecorder{
		"a post": ask(posts, "POST", "/post", jsonType, goodPost),
		"a read": ask(posts, "GET", "/post/1", "", ""),
	} {
		assertRefused(t, name, response, http.StatusServiceUnavailable, "the database does not answer")
	}
}

func TestMetricsTellOfThePool(t *testing.T) {
	said := ask(&memory{}, "GET", "/metricz", "", "").Body.String()
	if !strings.HasPrefix(said, `{"pool_size":10,"pool_active":2,"pool_waiting":3,"threads":`) {
		t.Error(said)
	}
}

func TestOpenTableRefusesWhatIsNoURLOfADatabase(t *testing.T) {
	for _, databaseURL := range []string{"", "127.0.0.1:3306", "postgres://u:p@127.0.0.1/d", "mysql://127.0.0.1/d"} {
		if _, err := openTable(databaseURL); err == nil {
			t.Errorf("%q was accepted", databaseURL)
		}
	}
}

func assertRefused(t *testing.T, name string, response *httptest.ResponseRecorder, status int, reason string) {
	t.Helper()
	body := `{"error":"` + reason + `"}`
	if response.Code != status || response.Body.String() != body || response.Header().Get("Content-Type") != jsonType {
		t.Errorf("%s: answered with %d %v %s", name, response.Code, response.Header(), response.Body)
	}
}
