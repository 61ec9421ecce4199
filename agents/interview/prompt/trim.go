package prompt

import (
	"slices"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
)

// Limits bound the history that goes along with a request.
type Limits struct {
	// Messages is how many recent messages go along; default 40.
	Messages int
	// Tokens bounds the history's size; default 7,000. That is more than interviews
	// with answers of ordinary length come to, and too little for one more of
	// several thousand tokens to be paid for with every call.
	Tokens int
}

const (
	defaultMessages = 40
	defaultTokens   = 7_000
)

// Kept is the part of a history that goes along with a request.
type Kept struct {
	// Messages are those kept, unchanged and in their order.
	Messages []session.Message
	// Trimmed is how many are left out.
	Trimmed int
	// Tokens is the size of those kept.
	Tokens int
	// Over means that what must be kept is by itself larger than Limits.Tokens.
	Over bool
}

// Trim returns what of a history goes along with a request that is made at a
// step. The history is in order and is not changed; the time is linear in it.
//
// What is always kept (I-12): mirrors with the candidate's comments on them, the
// matching, the final profile, all questions and answers of block 2, and those
// of the block of the step. Of all else the last Limits.Messages messages of the
// history are kept, and where all together is larger than Limits.Tokens, the
// oldest go first. A question and its answer go together, and no message is cut:
// half an answer can say the opposite of the whole. The name, the tone and the
// preamble are like any other message: what later calls need of them, the way to
// address the candidate, is in the instructions.
func Trim(history []session.Message, at session.Step, limits Limits) Kept {
	if limits.Messages <= 0 {
		limits.Messages = defaultMessages
	}
	if limits.Tokens <= 0 {
		limits.Tokens = defaultTokens
	}
	exchanges := exchangesOf(history, at.Block())
	kept := Kept{Trimmed: len(history), Messages: slices.Grow[[]session.Message](nil, len(history))}
	for i := range exchanges {
		x := &exchanges[i]
		x.keep = x.protected || x.from >= len(history)-limits.Messages
		if x.keep {
			kept.Tokens += x.tokens
		}
	}
	for i := 0; i < len(exchanges) && kept.Tokens > limits.Tokens; i++ {
		x := &exchanges[i]
		if x.keep && !x.protected {
			x.keep = false
			kept.Tokens -= x.tokens
		}
	}
	kept.Over = kept.Tokens > limits.Tokens
	for _, x := range exchanges {
		if x.keep {
			kept.Messages = append(kept.Messages, history[x.from:x.to]...)
		}
	}
	kept.Trimmed -= len(kept.Messages)
	return kept
}

// exchange is what belongs together: a question, if need be asked again, and its
// answer, or a mirror and the comment on it.
type exchange struct {
	from, to  int // in the history
	tokens    int
	protected bool
	keep      bool
}

// exchangesOf cuts a history into exchanges.
func exchangesOf(history []session.Message, block int) []exchange {
	all := make([]exchange, 0, len(history)/2+8)
	for i := range history {
		m := &history[i]
		if i == 0 || !together(&history[i-1], m) {
			all = append(all, exchange{from: i, protected: protected(m, block)})
		}
		x := &all[len(all)-1]
		x.to = i + 1
		x.tokens += size(m)
	}
	return all
}

func together(a, b *session.Message) bool {
	return a.Step == b.Step && a.Kind == b.Kind && a.Question == b.Question
}

// protected reports whether a message is kept whatever its age and size.
func protected(m *session.Message, block int) bool {
	switch m.Kind {
	case session.KindMirror, session.KindMatching:
		return true
	case session.KindQuestion:
		return m.Step.Block() == 2 || m.Step.Block() == block
	case session.KindOther:
		return m.Step == session.Block10 // the final profile
	}
	return false
}

// size returns a message's number of tokens. One that nobody has counted passes for a
// token in each four bytes, so that the limit holds all the same.
func size(m *session.Message) int {
	if m.Tokens == 0 {
		return (len(m.Text) + 3) / 4
	}
	return m.Tokens
}
