package push

import (
	"encoding/json"
	"fmt"
	"time"

	"go.k6.io/k6/v2/js/common"

	"github.com/pushbench/pushbench/k6/internal/conversation"
	"github.com/pushbench/pushbench/k6/internal/declared"
)

// Talk is the argument of `converse`: the server that two clients talk to, and how.
type Talk struct {
	URL           string               `json:"url"`
	Authorities   string               `json:"authorities"`
	Declaration   declared.Declaration `json:"declaration"`
	WithinSeconds float64              `json:"within_seconds"`
}

// Talked is the result of `converse`. Error says why there was no conversation.
type Talked struct {
	*conversation.Report
	Error string `json:"error"`
}

// converse plays one conversation and returns it as JSON. It throws an error if the plan is invalid.
func (i *instance) converse(plan map[string]any) string {
	var talk Talk
	if err := strict(plan, &talk); err != nil {
		common.Throw(i.vu.Runtime(), fmt.Errorf("k6/x/push: conversation: %w", err))
	}
	var talked Talked
	var err error
	talked.Report, err = conversation.Play(conversation.Config{
		URL: talk.URL, Authorities: talk.Authorities, Declaration: talk.Declaration,
		Within: time.Duration(talk.WithinSeconds * float64(time.Second)),
	})
	if err != nil {
		talked.Report, talked.Error = &conversation.Report{}, err.Error()
	}
	encoded, err := json.Marshal(talked)
	if err != nil {
		common.Throw(i.vu.Runtime(), fmt.Errorf("k6/x/push: %w", err))
	}
	return string(encoded)
}
