package incident

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/redact"
)

// redaction replaces secrets and counts them, each once.
type redaction struct {
	with  *redact.Redactor
	seen  map[string]bool
	kinds map[string]int
}

func (r *redaction) text(s string) string {
	for _, secret := range r.with.Find(s) {
		if value := s[secret.From:secret.To]; !r.seen[value] {
			r.seen[value] = true
			r.kinds[secret.Kind]++
		}
	}
	return r.with.Text(s)
}

// conversation returns a copy of c without secrets.
func (r *redaction) conversation(c Conversation) Conversation {
	c.Users, c.Notes, c.Expect = r.texts(c.Users), r.texts(c.Notes), r.texts(c.Expect)
	files := make(map[string]string, len(c.Files))
	for _, name := range slices.Sorted(maps.Keys(c.Files)) {
		files[r.text(name)] = r.text(c.Files[name])
	}
	c.Files = files
	turns := make([]Turn, len(c.Turns))
	for i, t := range c.Turns {
		t.Messages = slices.Clone(t.Messages)
		for j := range t.Messages {
			t.Messages[j].Content = r.text(t.Messages[j].Content)
		}
		t.Reply.Text, t.Thinking = r.text(t.Reply.Text), r.text(t.Thinking)
		t.Reply.ToolCalls = r.calls(t.Reply.ToolCalls)
		if t.Failure != nil {
			t.Failure = &Failure{t.Failure.Status, r.text(t.Failure.Message), t.Failure.Fault}
		}
		turns[i] = t
	}
	c.Turns = turns
	c.ServerCalls = slices.Clone(c.ServerCalls)
	for i := range c.ServerCalls {
		call := &c.ServerCalls[i]
		call.Arguments, call.Result, call.Error = r.text(call.Arguments), r.text(call.Result), r.text(call.Error)
	}
	return c
}

func (r *redaction) texts(all []string) []string {
	clean := make([]string, len(all))
	for i, s := range all {
		clean[i] = r.text(s)
	}
	return clean
}

func (r *redaction) calls(calls []llm.ToolCall) []llm.ToolCall {
	calls = slices.Clone(calls)
	for i := range calls {
		calls[i].Arguments = r.text(calls[i].Arguments)
	}
	return calls
}

// String counts the replaced secrets by kind.
func (r *redaction) String() string {
	if len(r.kinds) == 0 {
		return "No secret was found."
	}
	var parts []string
	for _, kind := range slices.Sorted(maps.Keys(r.kinds)) {
		parts = append(parts, fmt.Sprintf("%s (%d)", kind, r.kinds[kind]))
	}
	return "Secrets were replaced: " + strings.Join(parts, ", ") + "."
}
