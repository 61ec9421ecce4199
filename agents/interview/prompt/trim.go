package prompt

import (
	"cmp"
	"slices"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
)

// Limits limit the history in a request.
type Limits struct {
	// Messages is the number of recent messages; default 40.
	Messages int
	// Tokens is the maximum size of the history; default 7,000, which is more than interviews with
	// answers of ordinary length need.
	Tokens int
}

// WithDefaults returns the limits with the defaults filled in.
func (l Limits) WithDefaults() Limits {
	return Limits{Messages: cmp.Or(max(l.Messages, 0), defaultMessages), Tokens: cmp.Or(max(l.Tokens, 0), defaultTokens)}
}

const (
	defaultMessages = 40
	defaultTokens   = 7_000
)

// keptHistory is the part of a history to send.
type keptHistory struct {
	// Messages are the sent messages, unchanged and in order.
	Messages []session.Message
	// Trimmed is the number of omitted messages.
	Trimmed int
	// Tokens is the size of Messages.
	Tokens int
	// Over is true if the protected messages exceed Limits.Tokens.
	Over bool
}

// trim returns the part of a history that is sent with a request at a step. The history is in order,
// and is not changed. The time is linear in its length.
//
// trim always keeps (I-12) mirrors with the comments on them, the matching, the final profile, all
// questions and answers of block 2, and those of the block of the step. It keeps other messages if
// they are among the last Limits.Messages, and drops the oldest of them first if the total exceeds
// Limits.Tokens. It keeps or drops a question together with its answer, and never cuts a message.
// Name, tone and preamble are not protected, because the instructions contain the form of address.
func trim(history []session.Message, at session.Step, limits Limits) keptHistory {
	limits = limits.WithDefaults()
	exchanges := exchangesOf(history, at.Block())
	selected := keptHistory{}
	for i := range exchanges {
		x := &exchanges[i]
		x.keep = x.protected || x.from >= len(history)-limits.Messages
		if x.keep {
			selected.Tokens += x.tokens
		} else {
			selected.Trimmed += x.to - x.from
		}
	}
	for i := 0; i < len(exchanges) && selected.Tokens > limits.Tokens; i++ {
		x := &exchanges[i]
		if x.keep && !x.protected {
			x.keep = false
			selected.Tokens -= x.tokens
			selected.Trimmed += x.to - x.from
		}
	}
	selected.Over = selected.Tokens > limits.Tokens
	if selected.Trimmed == 0 {
		selected.Messages = slices.Clip(history)
		return selected
	}
	selected.Messages = make([]session.Message, 0, len(history)-selected.Trimmed)
	for _, x := range exchanges {
		if x.keep {
			selected.Messages = append(selected.Messages, history[x.from:x.to]...)
		}
	}
	return selected
}

// exchange is a question, possibly repeated, with its answer, or a mirror with its comment.
type exchange struct {
	from, to  int // in the history
	tokens    int
	protected bool
	keep      bool
}

// exchangesOf splits a history into exchanges.
func exchangesOf(history []session.Message, block int) []exchange {
	all := make([]exchange, 0, len(history)/2+8)
	for i := range history {
		m := &history[i]
		if i == 0 || !sameExchange(&history[i-1], m) {
			all = append(all, exchange{from: i, protected: protected(m, block)})
		}
		x := &all[len(all)-1]
		x.to = i + 1
		x.tokens += size(m)
	}
	return all
}

func sameExchange(a, b *session.Message) bool {
	return a.Step == b.Step && a.Kind == b.Kind && a.Question == b.Question
}

// protected reports whether a message is always kept.
func protected(m *session.Message, block int) bool {
	switch m.Kind {
	case session.KindMirror, session.KindMatching:
		return true
	case session.KindQuestion:
		return m.Step.Block() == 2 || m.Step.Block() == block
	case session.KindOther:
		return m.Step == session.Block10 // the final profile
	default:
		return false
	}
}

// size returns the number of tokens of a message, estimated at one token per four bytes if it has not
// been counted.
func size(m *session.Message) int {
	if m.Tokens == 0 {
		return (len(m.Text) + 3) / 4
	}
	return m.Tokens
}
