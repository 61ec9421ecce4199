package incident

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/llm"
)

// history finds the answers that a trace has only in its prompts: of earlier traces of a conversation, which
// an application keeps in its database, and of calls that are missing.
type history struct {
	dialogue
	known map[string]bool // tool calls, by their ids and by their contents
	// unsure is true if tool calls have no ids or an answer is missing, so unknown calls prove nothing.
	unsure bool

	texts   int      // found answers without tool calls
	called  int      // found answers with tool calls
	tools   []string // the names of these
	orphan  string   // the id of a tool call of which only the result is there
	adjoint bool     // user messages follow each other
}

// recall adds the answers that only prompts have, before the first call whose prompt has them. An agent that is
// driven makes these calls, too. If they have calls of tools, further calls may be missing.
func (c *Conversation) recall() {
	h := history{known: map[string]bool{}}
	var turns []Turn
	for i := range c.Turns {
		t := &c.Turns[i]
		turns = append(turns, h.earlier(t)...)
		turns = append(turns, *t)
		h.answered(t)
	}
	c.noteParts()
	c.Turns = turns
	if h.texts > 0 {
		c.Notes = append(c.Notes, fmt.Sprintf("The prompts have %s of calls that are not in the file. The script gives these, too; "+
			"their user messages are turns.", format.Plural(h.texts, "earlier answer")))
	}
	if h.called > 0 {
		c.Notes = append(c.Notes, fmt.Sprintf("The prompts have %s with tool calls (%s) of calls that are not in the file. The script gives "+
			"these, too; more calls may be missing.", format.Plural(h.called, "earlier answer"), joined(h.tools)))
	}
	if h.orphan != "" {
		c.Notes = append(c.Notes, fmt.Sprintf("The prompts have the result of the tool call %s but not the call, so an answer is missing.",
			h.orphan))
	}
	if h.adjoint {
		c.Notes = append(c.Notes, "User messages follow each other without an answer; join them to one turn if the agent makes them of one.")
	}
	c.Partial = h.called > 0 || h.orphan != ""
	if len(c.Users) == 0 {
		c.takeUsers(&h.dialogue)
	}
}

// noteParts notes the types of parts of prompts that import does not read, such as images, and removes them.
func (c *Conversation) noteParts() {
	var kinds []string
	for i := range c.Turns {
		for j := range c.Turns[i].Messages {
			m := &c.Turns[i].Messages[j]
			for _, a := range m.Attachments {
				if m.Role != llm.Assistant && !slices.Contains(kinds, a.Kind) {
					kinds = append(kinds, a.Kind)
				}
			}
			m.Attachments = nil
		}
	}
	if len(kinds) > 0 {
		c.Notes = append(c.Notes, fmt.Sprintf("Parts of the user's messages that import does not read are left out: %s.", joined(kinds)))
	}
}

// earlier returns the unknown answers in the prompt of a turn, if it continues the earlier prompts.
func (h *history) earlier(t *Turn) []Turn {
	before := len(h.users)
	if !h.follow(t) {
		return nil
	}
	t.asked = len(h.users)
	outside := len(h.users) - len(userTexts(t.Messages)) // user messages before the window of the prompt
	var found []Turn
	for _, a := range answersIn(t.Messages) {
		n := len(userTexts(a.Messages))
		a.asked = outside + n
		// A greeting before the first user message is not an answer of the model.
		if n > 0 && h.isUnknown(&a, before) {
			a.Began, a.Ended, a.Reply.Model = t.Began, t.Began, t.Reply.Model
			found = append(found, a)
			if !a.Missing {
				h.count(a.Reply.ToolCalls)
			}
		}
		h.answered(&a)
	}
	h.results(t.Messages)
	return found
}

// answersIn returns the answers in a prompt, each with the messages before it. An answer in several messages is
// one. One at the end of the prompt is left out: the model continues it. One without content is empty, unless parts of
// it were not read or a tool's result follows, whose call it lacks.
func answersIn(messages []llm.Message) []Turn {
	var all []Turn
	open := false
	for i, m := range messages {
		if m.Role != llm.Assistant {
			if open && m.Role == llm.ToolRole {
				all[len(all)-1].Missing = true
			}
			open = false
			continue
		}
		if !open {
			all = append(all, Turn{Messages: messages[:i:i]})
		}
		open = true
		r := &all[len(all)-1].Reply
		r.Text = strings.Trim(r.Text+"\n"+m.Content, "\n")
		r.ToolCalls = slices.Concat(r.ToolCalls, m.ToolCalls)
		for _, part := range m.Attachments {
			all[len(all)-1].Unread = append(all[len(all)-1].Unread, part.Kind)
		}
	}
	if open {
		all = all[:len(all)-1]
	}
	for i := range all {
		a := &all[i]
		a.Missing = (a.Missing || len(a.Unread) > 0) && a.Reply.Text == "" && len(a.Reply.ToolCalls) == 0
	}
	return all
}

// isUnknown reports whether an answer in a prompt is one of a call that is not in the file: it answers a user
// message that no earlier prompt has, or has only unknown tool calls.
func (h *history) isUnknown(a *Turn, earlier int) bool {
	if a.asked > earlier {
		return true
	}
	calls := a.Reply.ToolCalls
	return len(calls) > 0 && !h.unsure && !slices.ContainsFunc(calls, func(call llm.ToolCall) bool {
		return call.ID == "" || h.known[call.ID] || h.known[call.Name+" "+call.Arguments]
	})
}

// answered adds the tool calls of an answer to the known ones.
func (h *history) answered(t *Turn) {
	h.unsure = h.unsure || t.Missing && t.Failure == nil
	for _, call := range t.Reply.ToolCalls {
		h.unsure = h.unsure || call.ID == ""
		h.known[call.ID], h.known[call.Name+" "+call.Arguments] = true, true
	}
}

func (h *history) count(calls []llm.ToolCall) {
	if len(calls) == 0 {
		h.texts++
		return
	}
	h.called++
	for _, call := range calls {
		if !slices.Contains(h.tools, call.Name) {
			h.tools = append(h.tools, call.Name)
		}
	}
}

// results notes results of unknown tool calls, and user messages that follow each other.
func (h *history) results(messages []llm.Message) {
	var last llm.Role
	user := false
	for _, m := range messages {
		if m.Role == llm.ToolRole && user && !h.unsure && m.ToolCallID != "" && !h.known[m.ToolCallID] {
			h.orphan = m.ToolCallID
		}
		h.adjoint = h.adjoint || m.Role == llm.User && last == llm.User
		user = user || m.Role == llm.User
		last = m.Role
	}
}

func userTexts(messages []llm.Message) []string {
	var said []string
	for _, m := range messages {
		if m.Role == llm.User {
			said = append(said, m.Content)
		}
	}
	return said
}
