package react

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/internal/sanitize"
	"github.com/rehearse-dev/rehearse/llm"
)

// The limits of a dialogue, in bytes. When it exceeds maxDialogue, old turns are shortened
// until it has half of that, so that most calls only append to it.
const (
	maxDialogue = 240_000
	maxAnswer   = 60_000 // of one answer
	maxOld      = 400    // of an answer in a shortened turn
	keptTurns   = 2      // the last turns, which are never shortened
)

// unusedCall answers a tool call behind the first one of an answer.
const unusedCall = "This call was not used: one call at a time. Call it again if it is still needed."

// turn is an answer and the prompt after it, which is the result of the first tool call if the answer has
// calls. The first turn has no answer.
type turn struct {
	answer string
	calls  []llm.ToolCall
	prompt string
	short  string // replaces prompt in a shortened turn, unless empty
	again  string // a prompt after an empty answer, which is not a message
	cut    bool   // the turn was shortened
}

func (t *turn) size() int {
	n := len(t.answer) + len(t.prompt) + len(t.again)
	for _, c := range t.calls {
		n += len(c.Name) + len(c.Arguments) + len(unusedCall)
	}
	return n
}

// dialogue is the conversation with the backend.
type dialogue struct {
	system  string
	turns   []turn
	pending turn // an answer without a prompt after it
	size    int
	// sent are the messages of the turns, or nil if they must be built. Messages are only
	// appended, because a backend may keep the slice.
	sent []llm.Message
}

// messages returns the messages of the dialogue. The caller may keep them.
func (d *dialogue) messages() []llm.Message {
	if d.sent == nil {
		d.sent = []llm.Message{{Role: llm.System, Content: d.system}}
		for i := range d.turns {
			d.appendTurn(&d.turns[i])
		}
	}
	return slices.Clip(d.sent)
}

func (d *dialogue) appendTurn(t *turn) {
	if t.answer != "" || len(t.calls) > 0 {
		d.sent = append(d.sent, llm.Message{Role: llm.Assistant, Content: t.answer, ToolCalls: t.calls})
	}
	prompt := t.prompt
	if t.again != "" {
		prompt += "\n\n" + t.again
	}
	if len(t.calls) == 0 {
		d.sent = append(d.sent, llm.Message{Role: llm.User, Content: prompt})
	}
	for i, c := range t.calls {
		if i > 0 {
			prompt = unusedCall
		}
		d.sent = append(d.sent, llm.Message{Role: llm.ToolRole, ToolCallID: c.ID, Content: prompt})
	}
}

// addAnswer adds an answer. Each of its calls gets an id, and arguments that an API accepts.
func (d *dialogue) addAnswer(text string, calls []llm.ToolCall) {
	d.pending = turn{answer: clip(text, maxAnswer), calls: slices.Clone(calls)}
	seen := map[string]bool{"": true}
	for i := range d.pending.calls {
		c := &d.pending.calls[i]
		if seen[c.ID] {
			c.ID = fmt.Sprintf("call_%d_%d", len(d.turns), i+1)
		}
		seen[c.ID] = true
		if len(c.Arguments) > maxAnswer || !json.Valid([]byte(c.Arguments)) {
			c.Arguments = shortArguments(c.Arguments, maxOld)
		}
	}
}

// shortArguments returns the beginning of arguments as valid arguments.
func shortArguments(arguments string, limit int) string {
	data, _ := json.Marshal(map[string]string{"thought": clip(strings.ToValidUTF8(arguments, "\uFFFD"), limit)}) // a text
	return string(data)
}

// ask adds a prompt after the last answer. The short form replaces it in an old turn.
func (d *dialogue) ask(prompt, short string) {
	last := &d.turns[len(d.turns)-1]
	if strings.TrimSpace(d.pending.answer) == "" && len(d.pending.calls) == 0 { // some providers reject an empty message
		d.size += len(prompt) - len(last.again)
		last.again, d.sent = prompt, nil
		return
	}
	next := turn{answer: d.pending.answer, calls: d.pending.calls, prompt: prompt, short: short}
	d.turns, d.pending = append(d.turns, next), turn{}
	d.size += next.size()
	if d.size > maxDialogue {
		d.shorten()
		d.sent = nil
	} else if d.sent != nil {
		d.appendTurn(&next)
	}
}

// shorten shortens old turns. The first one, which has the task, stays.
func (d *dialogue) shorten() {
	for i := 1; i < len(d.turns)-keptTurns && d.size > maxDialogue/2; i++ {
		t := &d.turns[i]
		if t.cut {
			continue
		}
		before := t.size()
		t.cut = true
		if t.short != "" {
			t.prompt = t.short
		}
		t.answer = clip(t.answer, maxOld)
		t.calls = slices.Clone(t.calls) // a backend may keep the old ones
		for i := range t.calls {
			if len(t.calls[i].Arguments) > maxOld {
				t.calls[i].Arguments = shortArguments(t.calls[i].Arguments, maxOld)
			}
		}
		d.size += t.size() - before
	}
}

// clip cuts a text to limit bytes, with a note about it.
func clip(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return fmt.Sprintf("%s\n[… cut here; %d bytes in all]", sanitize.Prefix(text, limit), len(text))
}
