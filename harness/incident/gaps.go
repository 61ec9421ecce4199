package incident

import (
	"fmt"
	"slices"
	"time"

	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/llm"
)

// noteGaps notes how many lines of the conversation's file could not be read, or of all files if the
// format spreads a conversation over several. A recording is left out: it has no trial with such a line.
func (s *source) noteGaps(c *Conversation) {
	if s.format == Recording {
		return
	}
	spread := s.format == OTLP || s.format == Langfuse
	n := 0
	for _, d := range s.docs {
		if d.value == nil && (spread || d.file == c.File || slices.Contains(c.parts, d.file)) {
			n++
		}
	}
	if n == 0 {
		return
	}
	c.Gaps = true
	if n == 1 {
		c.Notes = append(c.Notes, "1 line of the file is not JSON and is left out, so a call may be missing.")
		return
	}
	c.Notes = append(c.Notes, fmt.Sprintf("%s of the file are not JSON and are left out, so calls may be missing.", format.Plural(n, "line")))
}

// gaps finds the answers that a session lacks, because lines of its file could not be read or were
// removed.
type gaps struct {
	called   map[string]bool // ids of tool calls
	waiting  bool            // the last message was one of the user or of a tool
	inAnswer bool            // a line within or after the last answer could not be read
	before   bool            // a line where an answer was due could not be read
	partial  map[int]bool    // indices of the turns that lack a part
	noted    bool
}

// skip notes that a line could not be read.
func (g *gaps) skip() {
	if g.waiting {
		g.before = true
	} else {
		g.inAnswer = true
	}
}

// answered notes a part of an answer, with its calls. first is true for the first part.
func (g *gaps) answered(first bool, calls []llm.ToolCall) {
	if first {
		g.inAnswer = false
	}
	g.waiting, g.before = false, false
	if g.called == nil {
		g.called = map[string]bool{}
	}
	for _, call := range calls {
		g.called[call.ID] = true
	}
}

// asked notes a message of the user, and that the answer before it is missing, if the line where it was
// due could not be read.
func (g *gaps) asked(c *Conversation, at time.Time) {
	if g.before {
		g.missing(c, at)
	}
	g.waiting = true
}

// result notes the result of a tool. Without its call, an answer is missing, or a part of one.
func (g *gaps) result(c *Conversation, id string, at time.Time) {
	if id != "" && !g.called[id] {
		if !g.noted {
			c.Notes = append(c.Notes, fmt.Sprintf("The file has the result of the tool call %s but not the call.", id))
			g.noted = true
		}
		g.missing(c, at)
	}
	g.waiting = true
}

// missing marks the last answer if the missing call was a part of it; otherwise it adds an answer that
// is missing.
func (g *gaps) missing(c *Conversation, at time.Time) {
	last := len(c.Turns) - 1
	if last < 0 || g.waiting && !g.inAnswer && !g.partial[last] {
		c.Turns = append(c.Turns, Turn{Began: at, Ended: at, asked: len(c.Users)})
		last++
	}
	if g.partial == nil {
		g.partial = map[int]bool{}
	}
	g.partial[last] = true
	g.before = false
}

// close marks the incomplete answers as missing: a script must not give a part of one.
func (g *gaps) close(c *Conversation) {
	if g.before && len(c.Turns) > 0 {
		last := c.Turns[len(c.Turns)-1].Ended
		g.missing(c, last)
	}
	for i := range g.partial {
		c.Turns[i].Missing = true
	}
}
