package wire

import (
	"crypto/sha256"
	"encoding/base64"
	"slices"

	"github.com/rehearse-dev/rehearse/llm"
)

// part is one part of an answer, for protocols with lists of parts.
type part struct {
	kind partKind
	text string // of a call, its arguments
	call *llm.ToolCall
	// signature of a call stands for the thoughts before it; Gemini's clients return it.
	signature string
}

type partKind uint8

const (
	thinkingPart partKind = iota
	textPart
	refusalPart
	callPart
)

// parts returns the parts of the answer in the order of models. An empty answer is one empty
// text, unless a fault removed all parts.
func (c *Completion) parts() []part {
	if c.bare {
		return nil
	}
	parts := make([]part, 0, 3+len(c.ToolCalls))
	if c.Thinking != "" {
		parts = append(parts, part{kind: thinkingPart, text: c.Thinking})
	}
	if c.Text != "" || c.Refusal == "" && len(c.ToolCalls) == 0 {
		parts = append(parts, part{kind: textPart, text: c.Text})
	}
	if c.Refusal != "" {
		parts = append(parts, part{kind: refusalPart, text: c.Refusal})
	}
	for i := range c.ToolCalls {
		t := &c.ToolCalls[i]
		parts = append(parts, part{kind: callPart, text: t.Arguments, call: t})
	}
	return parts
}

// ownSignature is the prefix of signature's results.
const ownSignature = "rehearse:"

// signature returns a digest in place of the encrypted form of a thought, which clients send back
// unread.
func signature(thinking string) string {
	sum := sha256.Sum256([]byte(thinking))
	return ownSignature + base64.StdEncoding.EncodeToString(sum[:])
}

// pending has the tool calls of a request without an answer.
type pending struct {
	order []string
	open  map[string]bool
}

// ask adds a call; false if its id is already open.
func (p *pending) ask(id string) bool {
	if p.open[id] {
		return false
	}
	if p.open == nil {
		p.open = map[string]bool{}
	}
	p.open[id] = true
	p.order = append(p.order, id)
	return true
}

// answer removes a call; false if its id is not open.
func (p *pending) answer(id string) bool {
	if !p.open[id] {
		return false
	}
	delete(p.open, id)
	if len(p.open) == 0 {
		p.order = nil
	}
	return true
}

// left returns the ids of the calls without an answer, in order.
func (p *pending) left() []string {
	return slices.DeleteFunc(slices.Clone(p.order), func(id string) bool { return !p.open[id] })
}
