package incident

import (
	"fmt"
	"maps"
	"slices"

	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
)

// compactedNote is the note of a session in which the agent summarised the conversation.
const compactedNote = "The session was compacted; the call that did so is not in the file."

// note adds a note once.
func (c *Conversation) note(text string) {
	if !slices.Contains(c.Notes, text) {
		c.Notes = append(c.Notes, text)
	}
}

// endAtFailures leaves out what a driven agent does not repeat of a session with failed calls. It ends with a message that fails, so
// the script does, too; if the session went on after a message whose only call failed, the message is left out instead.
func (c *Conversation) endAtFailures() {
	for i := 0; i < len(c.Turns); i++ {
		t := &c.Turns[i]
		if t.Failure == nil || t.asked == 0 { // one of a subagent does not end the session
			continue
		}
		_, why := scripted(t.Failure)
		succeeded := slices.ContainsFunc(c.Turns[i:], func(t Turn) bool { return t.Failure == nil })
		switch {
		case (why != "" || succeeded) && c.callsOf(t.asked) == 1:
			reason := why
			if reason == "" {
				reason = fmt.Sprintf("it failed with the status %d, and the session went on", t.Failure.Status)
			}
			c.Notes = append(c.Notes,
				fmt.Sprintf("The message %q is left out with its only call: %s.", sanitize.Line(c.Users[t.asked-1], 80), reason))
			c.dropMessage(t.asked)
			c.Turns = slices.Delete(c.Turns, i, i+1)
			i--
		case why == "":
			c.Notes = append(c.Notes, fmt.Sprintf("Call %d failed, and the script ends with it. A session does not have the attempts of "+
				"the client; with retries: 0 it makes one.", i+1))
			c.endAfter(t.asked)
			c.Turns = c.Turns[:i+1]
		}
	}
}

// callsOf returns the number of calls for a message of the user, from 1.
func (c *Conversation) callsOf(message int) int {
	n := 0
	for i := range c.Turns {
		if c.Turns[i].asked == message {
			n++
		}
	}
	return n
}

// dropUnanswered leaves out the messages of the user all of whose calls are left out, as counted.
func (c *Conversation) dropUnanswered(lost map[int]int) {
	for _, n := range slices.Backward(slices.Sorted(maps.Keys(lost))) {
		if n > 0 && n <= len(c.Users) && c.callsOf(n) == lost[n] {
			c.Notes = append(c.Notes, fmt.Sprintf("The message %q is left out with its calls.", sanitize.Line(c.Users[n-1], 80)))
			c.dropMessage(n)
		}
	}
}

// dropMessage leaves out a message of the user, from 1.
func (c *Conversation) dropMessage(n int) {
	c.Users = slices.Delete(slices.Clone(c.Users), n-1, n)
	for i := range c.Turns {
		if c.Turns[i].asked >= n {
			c.Turns[i].asked--
		}
	}
}

// endBefore leaves out the messages of the user whose calls come after a call for the n-th, which has no answer.
func (c *Conversation) endBefore(n int) {
	if c.callsOf(n) == 1 {
		n--
	}
	if n > 0 {
		c.endAfter(n)
	}
}

// endAfter leaves out the messages of the user after the n-th.
func (c *Conversation) endAfter(n int) {
	if more := len(c.Users) - n; more > 0 {
		c.Users = c.Users[:n]
		c.Notes = append(c.Notes, "What the user wrote after the end of the script is left out: "+format.Plural(more, "message")+".")
	}
}
