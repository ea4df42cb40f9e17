package scripted

import (
	"encoding/json"
	"fmt"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/pushbench/pushbench/k6/internal/protocol"
	"github.com/pushbench/pushbench/k6/internal/schedule"
)

// Source broadcasts the draws that the members themselves would send, one a second each, until stop is closed. It
// serves clients that only read. Boards must be named as the generator names them.
func (s *Server) Source(clients, boardSize int, stop <-chan struct{}) error {
	found, err := protocol.Find("whiteboard-json")
	if err != nil {
		return err
	}
	type pen struct {
		phase time.Duration
		says  protocol.Conversation
		board string
	}
	pattern, epoch := schedule.Patterns["steady"], time.Now()
	sender := &member{} // writes text, and is not a member of any board
	pens := make([]pen, clients)
	for number := range pens {
		first := pattern.Sequence(1, number/boardSize, number%boardSize)
		board := "b-" + strconv.Itoa(number/boardSize)
		identity := protocol.Identity{Group: board, Client: number, Epoch: epoch}
		pens[number] = pen{first.Due(), found.NewConversation(identity), board}
	}
	sort.Slice(pens, func(i, j int) bool { return pens[i].phase < pens[j].phase })
	for seq := uint32(0); ; seq++ {
		for _, p := range pens {
			due := p.phase + time.Duration(seq)*pattern.Period
			select {
			case <-stop:
				return nil
			case <-time.After(due - time.Since(epoch)):
			}
			s.mu.Lock()
			b := s.boards[p.board]
			s.mu.Unlock()
			s.broadcast(b, sender, p.says.Message(nil, seq, due))
		}
	}
}

// Join returns the join message of a client that only reads.
func Join(number, boardSize int) []byte {
	text, err := json.Marshal(map[string]string{
		"boardId": fmt.Sprintf("b-%d", number/boardSize), "userId": fmt.Sprintf("u-%d", number),
	})
	if err != nil {
		panic(err) // a map of strings
	}
	return []byte(strings.Replace(string(text), "{", `{"type":"join",`, 1))
}
