package incident

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/llm/price"
	"github.com/rehearse-dev/rehearse/mocks"
	"github.com/rehearse-dev/rehearse/mocks/capture"
)

// script returns the script of the conversation's calls, and notes what it does not have. cut is true
// if it ends before the conversation.
func (c *Conversation) script(match capture.Matching) (script mocks.Script, cut bool) {
	slices.SortStableFunc(c.Turns, func(a, b Turn) int { return a.Began.Compare(b.Began) })
	if c.Coding != "" {
		c.endAtFailures()
	}
	turns, cut := c.answers()
	options := capture.ScriptOptions{Matching: match, Assert: match == capture.ByText}
	failed := len(turns) > 0 && turns[len(turns)-1].Answer.Fault != nil && !c.EachAttempt
	if match == capture.ByText && !c.overlapping() && !failed {
		options.Matching = capture.InOrder
	}
	if slices.ContainsFunc(turns, func(t capture.Turn) bool { f := t.Answer.Fault; return f != nil && f.Kind != "status" }) {
		c.Notes = append(c.Notes, "A recording does not have the answers that faults changed; the faults of this script change an empty one.")
	}
	script = capture.ScriptOf(turns, options)
	if n := len(script.Rules); failed && n > 0 {
		script.Rules[n-1].Times = 0 // without a limit, for the attempts of the client
		c.Notes = append(c.Notes, "The last call failed. How often the client tried is not known, so its fault has no limit.")
	}
	for i := range script.Replies {
		if script.Replies[i].Times == 1 {
			script.Replies[i].Times = 0 // the default
		}
	}
	if script.Model == "" && len(turns) > 0 {
		first := turns[0].Model
		if slices.ContainsFunc(turns, func(t capture.Turn) bool { return !price.SameModel(t.Model, first) }) {
			script.Model = first
			c.Notes = append(c.Notes, "Several models answered; the price and the tokenizer are those of the first.")
		}
	}
	return script, cut
}

// answers returns the calls that the script answers; cut is true if it ends before the last call.
func (c *Conversation) answers() (turns []capture.Turn, cut bool) {
	lost := map[int]int{} // calls that are left out, by the user's messages
	uncounted := 0
	for i := range c.Turns {
		t := &c.Turns[i]
		answer, why := c.answerOf(t)
		if why == "" {
			request := llm.Request{Model: t.Reply.Model, Messages: t.Messages}
			if t.Reply.Usage == nil && answer.Fault == nil {
				uncounted++
			}
			turns = append(turns, capture.Turn{N: i + 1, Request: request, Answer: answer, Model: t.Reply.Model})
			if len(t.Unread) > 0 {
				c.Notes = append(c.Notes, fmt.Sprintf("Parts of answer %d that import does not read are left out: %s.", i+1, joined(t.Unread)))
			}
			continue
		}
		if t.Failure != nil && c.Coding == "" {
			c.Notes = append(c.Notes, fmt.Sprintf("Call %d is left out: %s.", i+1, why))
			lost[t.asked]++
			continue
		}
		c.Notes = append(c.Notes, fmt.Sprintf("The script ends before call %d of %d: %s.", i+1, len(c.Turns), why))
		cut = true
		c.endBefore(t.asked)
		break
	}
	if len(turns) > 0 {
		c.dropUnanswered(lost)
	}
	if uncounted > 0 && c.Coding == "" {
		c.Notes = append(c.Notes, fmt.Sprintf("The file has no token counts of %s; they are counted from the texts.",
			format.Plural(uncounted, "answer")))
	}
	return turns, cut
}

// overlapping reports whether a call began before the one before it had ended. OpenTelemetry's SDK for JavaScript cuts beginnings,
// but not ends, to milliseconds, so that a call seems to begin before the end of another in the same millisecond.
func (c *Conversation) overlapping() bool {
	for i := 1; i < len(c.Turns); i++ {
		began, ended := c.Turns[i].Began, c.Turns[i-1].Ended
		if c.Format == OTLP && began.Equal(began.Truncate(time.Millisecond)) {
			ended = ended.Truncate(time.Millisecond)
		}
		if began.Before(ended) {
			return true
		}
	}
	return false
}

// answerOf returns the answer of a turn, or why there is none.
func (c *Conversation) answerOf(t *Turn) (a mocks.Answer, why string) {
	switch {
	case t.Failure != nil:
		return scripted(t.Failure)
	case t.Missing && len(t.Unread) > 0:
		return a, "its answer has only parts that import does not read: " + joined(t.Unread)
	case t.Missing:
		return a, "its answer is not in the file"
	}
	reply := t.Reply
	reply.ToolCalls = slices.Clone(reply.ToolCalls)
	for i := range reply.ToolCalls {
		reply.ToolCalls[i] = c.codingArguments(reply.ToolCalls[i])
	}
	a, err := capture.AnswerOf(reply)
	if err != nil {
		return a, err.Error()
	}
	a.Thinking = t.Thinking
	return a, ""
}

// scripted returns the fault with which a call failed, or why it cannot be scripted.
func scripted(f *Failure) (a mocks.Answer, why string) {
	if f.Fault == "" {
		if f.Status < http.StatusBadRequest || f.Status > 599 {
			return a, "it failed (" + cmp.Or(f.Message, "without a message") + "), and its HTTP status is not known"
		}
		return mocks.Answer{Fault: &mocks.Fault{Kind: "status", Status: f.Status, Message: f.Message}}, ""
	}
	fault := &mocks.Fault{Kind: f.Fault}
	if f.Fault == "status" {
		fault.Status = f.Status
	}
	if err := fault.Validate(); err != nil {
		return a, "it failed, and its fault cannot be scripted: " + err.Error()
	}
	return mocks.Answer{Fault: fault}, ""
}

// tools returns the names of the called tools in order.
func (c *Conversation) tools() string {
	names := map[string]bool{}
	var list []string
	calls := 0
	for i := range c.Turns {
		for _, call := range c.Turns[i].Reply.ToolCalls {
			calls++
			if !names[call.Name] {
				names[call.Name] = true
				list = append(list, call.Name)
			}
		}
	}
	if calls == 0 {
		return "no tools"
	}
	return fmt.Sprintf("%s (%s)", format.Plural(calls, "tool call"), joined(list))
}
