package cli

import (
	"strings"

	"github.com/rehearse-dev/rehearse/llm"
)

// codexEvent is one line of "codex exec --json".
type codexEvent struct {
	eventHead
	Thread  string `json:"thread_id"` // thread.started
	Message string `json:"message"`   // error
	Item    struct {
		Type string `json:"type"`
		Text string `json:"text"`
	} `json:"item"`
	Error struct {
		Message string `json:"message"`
	} `json:"error"` // turn.failed
	Usage *codexUsage `json:"usage"`
}

// codexUsage counts cached input within input, and reasoning within output.
type codexUsage struct {
	Input     int `json:"input_tokens"`
	Cached    int `json:"cached_input_tokens"`
	Output    int `json:"output_tokens"`
	Reasoning int `json:"reasoning_output_tokens"`
}

// codexReconnecting begins an error event after which codex goes on by itself.
const codexReconnecting = "Reconnecting"

func codexLine(a *answer, line []byte) {
	var e codexEvent
	kind, ok := a.event(line, &e)
	if !ok {
		return
	}
	switch kind {
	case "thread.started":
		a.session(e.Thread)
	case "item.completed":
		if e.Item.Type == "agent_message" && e.Item.Text != "" {
			a.text = e.Item.Text
			a.sayWhole(a.text)
		}
	case "turn.completed":
		a.ended, a.lastError = true, ""
		if u := e.Usage; u != nil {
			a.usage = reported(llm.Usage{
				Input: u.Input - u.Cached, CachedInput: u.Cached, Output: u.Output, Reasoning: u.Reasoning,
			})
		}
	case "turn.failed":
		a.fail(e.Error.Message, 0)
	case "error":
		a.lastError = e.Message
		if strings.HasPrefix(e.Message, codexReconnecting) {
			a.retried(kindOf(e.Message, 0), 0)
		} else if a.ended {
			a.fail(e.Message, 0)
		}
	}
}
