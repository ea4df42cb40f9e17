package declared

import (
	"fmt"
	"strconv"
	"strings"
)

// finder finds the values at some JSON pointers (RFC 6901) in one pass over a text. It copies nothing.
type finder struct {
	root  node
	count int
}

// node is a place in a document on the way to the values of pointers.
type node struct {
	pointer int    // the number of the pointer that ends here; -1 for none
	below   []int  // the numbers of the pointers that end here or deeper
	likely  []byte // the probable value; empty if unknown
	edges   []edge
}

// edge leads to a member of an object, or to an item of an array if its name is a number.
type edge struct {
	name string
	item int // -1 if the name is not a number
	to   *node
}

// span is the location of a value in a text. Its zero value means no value.
type span struct{ from, to uint32 }

func (s span) of(text []byte) []byte { return text[s.from:s.to] }

func (s span) exists() bool { return s.to > 0 }

func newFinder() *finder { return &finder{root: node{pointer: -1}} }

// add makes the finder look for the value at a pointer, and returns its number.
func (f *finder) add(pointer string) (int, error) {
	names := strings.Split(pointer, "/")
	if names[0] != "" {
		return 0, fmt.Errorf("pointer %q: expected a JSON pointer, such as /data/id", pointer)
	}
	path := []*node{&f.root}
	for _, name := range names[1:] {
		name = strings.NewReplacer("~1", "/", "~0", "~").Replace(name)
		path = append(path, path[len(path)-1].at(name))
	}
	last := path[len(path)-1]
	if last.pointer >= 0 {
		return last.pointer, nil
	}
	last.pointer = f.count
	f.count++
	for _, each := range path {
		each.below = append(each.below, last.pointer)
	}
	return last.pointer, nil
}

// at returns the node below, which it creates if there is none.
func (n *node) at(name string) *node {
	for _, each := range n.edges {
		if each.name == name {
			return each.to
		}
	}
	item, err := strconv.Atoi(name)
	if err != nil || strconv.Itoa(item) != name {
		item = -1
	}
	made := &node{pointer: -1}
	n.edges = append(n.edges, edge{name, item, made})
	return made
}

// expect sets the probable value of a pointer: a complete JSON value, which is compared instead of parsed.
func (f *finder) expect(pointer int, value []byte) { f.root.expect(pointer, value) }

func (n *node) expect(pointer int, value []byte) {
	if n.pointer == pointer && len(n.edges) == 0 {
		n.likely = value
	}
	for _, each := range n.edges {
		each.to.expect(pointer, value)
	}
}

func (n *node) member(name []byte) *node {
	for i := range n.edges {
		if n.edges[i].name == string(name) {
			return n.edges[i].to
		}
	}
	return nil
}

func (n *node) item(number int) *node {
	for i := range n.edges {
		if n.edges[i].item == number {
			return n.edges[i].to
		}
	}
	return nil
}
