package measure

import (
	"strings"

	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/llm"
)

// LastCall describes the last call of a trial for people. It is often the cause of a failure.
type LastCall struct {
	N       int    `json:"n"` // from 1
	Purpose string `json:"purpose,omitempty"`
	Model   string `json:"model,omitempty"`
	// Line is the script line that answered, such as "replies[0]", and Fault the kind of the fault
	// that fired.
	Line  string `json:"line,omitempty"`
	Fault string `json:"fault,omitempty"`
	// Role is the author of the last message of the request, Request its text.
	Role    string `json:"role,omitempty"`
	Request string `json:"request,omitempty"`
	// Reply is the answer with its tool calls. Without an answer, Error is the reason.
	Reply string `json:"reply,omitempty"`
	Error string `json:"error,omitempty"`
}

// lastCall describes the last call; nil without calls.
func lastCall(tr *record.Trial) *LastCall {
	if len(tr.Calls) == 0 {
		return nil
	}
	c := &tr.Calls[len(tr.Calls)-1]
	last := &LastCall{N: c.N, Purpose: c.Purpose, Model: c.Model}
	if n := len(tr.Exchanges); n > 0 {
		x := &tr.Exchanges[n-1]
		last.Line = x.Line
		if x.Fired {
			last.Fault = x.Fault
		}
	}
	if n := len(c.Messages); n > 0 {
		if m, ok := tr.Message(c.Messages[n-1]); ok {
			last.Role, last.Request = string(m.Role), messageText(&m.Message)
		}
	}
	if m, ok := tr.Message(c.Reply); ok {
		last.Reply = messageText(&m.Message)
	}
	if c.Error != nil {
		last.Error = strings.TrimSuffix(string(c.Error.Kind)+": "+c.Error.Message, ": ")
	}
	return last
}

// messageText returns the text of a message and its tool calls.
func messageText(m *llm.Message) string {
	text := m.Content
	for _, call := range m.ToolCalls {
		text += "\n" + call.Name + "(" + call.Arguments + ")"
	}
	return strings.TrimPrefix(text, "\n")
}

// logFact returns the other output of an external agent, if it is recorded.
func logFact(tr *record.Trial) string {
	for i := len(tr.Events) - 1; i >= 0; i-- {
		if e := &tr.Events[i].Event; is[record.Log](e) {
			return e.Detail
		}
	}
	return ""
}
