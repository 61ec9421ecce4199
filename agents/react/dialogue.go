package react

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/rehearse-dev/rehearse/llm"
)

// What a conversation may hold, in bytes. Where it grows beyond maxTalk the
// oldest observations are left out until it has half of that, so that it is
// not cut again with each call.
const (
	maxTalk   = 240_000
	maxAnswer = 60_000 // kept of one answer
	keptTurns = 2      // the last ones, which are never cut
	oldAnswer = 400    // kept of an old answer
)

// turn is an answer and what was asked after it. The first has no answer.
type turn struct {
	answer string
	prompt string
	// short stands for prompt once it is left out; empty: it never is.
	short string
	// again is what was asked after an empty answer, which is no message.
	again string
	cut   bool
}

func (t *turn) size() int { return len(t.answer) + len(t.prompt) + len(t.again) }

// dialogue is the conversation with the backend.
type dialogue struct {
	system  string
	turns   []turn
	pending string // an answer after which nothing was asked yet
	size    int
	// sent are the messages of the turns. It only ever grows, or is built anew, so that a
	// backend may keep it; nil: it must be.
	sent []llm.Message
}

// messages returns a conversation that the backend may keep.
func (d *dialogue) messages() []llm.Message {
	if d.sent == nil {
		d.sent = []llm.Message{{Role: llm.System, Content: d.system}}
		for i := range d.turns {
			d.send(&d.turns[i])
		}
	}
	return slices.Clip(d.sent)
}

func (d *dialogue) send(t *turn) {
	if t.answer != "" {
		d.sent = append(d.sent, llm.Message{Role: llm.Assistant, Content: t.answer})
	}
	prompt := t.prompt
	if t.again != "" {
		prompt += "\n\n" + t.again
	}
	d.sent = append(d.sent, llm.Message{Role: llm.User, Content: prompt})
}

// said takes an answer.
func (d *dialogue) said(text string) {
	d.pending = clip(text, maxAnswer)
}

// ask goes on after the answer that was said. A prompt that may be left out once it is
// old has a short form.
func (d *dialogue) ask(prompt, short string) {
	last := &d.turns[len(d.turns)-1]
	if strings.TrimSpace(d.pending) == "" { // some providers refuse an empty message
		d.size += len(prompt) - len(last.again)
		last.again, d.sent = prompt, nil
		return
	}
	next := turn{answer: d.pending, prompt: prompt, short: short}
	d.turns, d.pending = append(d.turns, next), ""
	d.size += next.size()
	if d.size > maxTalk {
		d.shorten()
		d.sent = nil
	} else if d.sent != nil {
		d.send(&next)
	}
}

// shorten leaves out what is old of a conversation that is too long. The task, in
// the first turn, stays.
func (d *dialogue) shorten() {
	for i := 1; i < len(d.turns)-keptTurns && d.size > maxTalk/2; i++ {
		t := &d.turns[i]
		if t.cut {
			continue
		}
		before := t.size()
		t.cut = true
		if t.short != "" {
			t.prompt = t.short
		}
		t.answer = clip(t.answer, oldAnswer)
		d.size += t.size() - before
	}
}

// clip cuts a text to at most limit bytes, and says so.
func clip(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	end := limit
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return fmt.Sprintf("%s\n[… cut here; %d bytes in all]", text[:end], len(text))
}
