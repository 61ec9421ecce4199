package wire

import (
	"crypto/sha256"
	"encoding/base64"

	"github.com/rehearse-dev/rehearse/llm"
)

// part is one thing that an answer says, for protocols whose answers are lists.
type part struct {
	kind partKind
	text string // of a call, its arguments
	call *llm.ToolCall
}

type partKind uint8

const (
	thinkingPart partKind = iota
	textPart
	refusalPart
	callPart
)

// parts are what the answer says, in the order in which models say it. An answer
// that says nothing has one empty text, unless a fault took all its parts.
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

// ownSignature begins the signatures that are made here.
const ownSignature = "rehearse:"

// signature stands for the encrypted form of a thought, which clients hand back
// unread: the digest of its text.
func signature(thinking string) string {
	sum := sha256.Sum256([]byte(thinking))
	return ownSignature + base64.StdEncoding.EncodeToString(sum[:])
}
