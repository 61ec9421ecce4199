package stop

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"strings"
	"unicode/utf8"

	"github.com/rehearse-dev/rehearse/llm"
)

//go:embed opinion.md
var opinionPrompt string

// The scores between which the signals alone leave a message undecided.
const (
	undecidedFrom = 0.1
	undecidedTo   = 0.9
)

// opinionBytes is how much of a message a model is shown: its end.
const opinionBytes = 16 << 10

// Guard judges messages, and may ask a model for a second opinion where the
// signals leave a message undecided. The zero value asks nobody and judges as
// Judge does.
type Guard struct {
	Options
	// Backend is asked about messages with a score from 0.1 to 0.9 under Balanced;
	// nil means never. It is outside the budget of time that Judge keeps.
	Backend llm.Backend
	// Model is the model's name; empty means the backend's own default.
	Model string
}

// Judge judges a message. Where a model is asked, its answer decides between
// Defers and the class that the signals give else; without a usable answer the
// verdict of the signals stands. Reason says which it was.
func (g *Guard) Judge(ctx context.Context, message string) Verdict {
	v := Judge(message, g.Options)
	if g.Backend == nil || v.Policy != Balanced || v.Score < undecidedFrom || v.Score > undecidedTo {
		return v
	}
	defers, err := g.ask(ctx, message)
	switch {
	case err != nil:
		v.Reason += "; a second opinion failed and the signals decide: " + err.Error()
		return v
	case defers == (v.Class == Defers):
		v.Reason += "; a second opinion agrees"
		return v
	}
	// The threshold is moved to the other side of the score, so that all that
	// follows from the class follows from the opinion.
	o := g.Options
	o.Threshold = v.Score
	note := "; a second opinion finds that it defers"
	if !defers {
		o.Threshold = 1
		note = "; a second opinion finds that it may stop"
	}
	v = Judge(message, o)
	v.Reason += note
	return v
}

// ask asks the model whether the message defers.
func (g *Guard) ask(ctx context.Context, message string) (bool, error) {
	temperature := 0.0
	reply, err := g.Backend.Complete(ctx, llm.Request{
		Purpose: "judge",
		Model:   g.Model,
		Messages: []llm.Message{
			{Role: llm.System, Content: opinionPrompt},
			{Role: llm.User, Content: delimit(message)},
		},
		JSONMode:    true,
		MaxTokens:   64,
		Temperature: &temperature,
	})
	if err != nil {
		return false, fmt.Errorf("ask for a second opinion: %w", err)
	}
	return opinion(reply.Text)
}

// opinion reads an answer: one JSON object with the field verdict, and nothing
// else. Whatever does not fit is an error, not an opinion.
func opinion(answer string) (bool, error) {
	decoder := json.NewDecoder(strings.NewReader(answer))
	var out struct {
		Verdict string `json:"verdict"`
	}
	if err := decoder.Decode(&out); err != nil {
		return false, fmt.Errorf("read the second opinion %q: %w", excerpt(answer, Span{0, len(answer)}, 80), err)
	}
	if decoder.More() {
		return false, fmt.Errorf("the second opinion %q is more than one object", excerpt(answer, Span{0, len(answer)}, 80))
	}
	switch out.Verdict {
	case "defers":
		return true, nil
	case "stops":
		return false, nil
	default:
		return false, fmt.Errorf("the second opinion %q is neither %q nor %q", excerpt(out.Verdict, Span{0, len(out.Verdict)}, 40), "defers", "stops")
	}
}

// delimit puts the end of a message between marks that the message cannot hold:
// their number is taken from its bytes until it does not occur in them.
func delimit(message string) string {
	if cut := len(message) - opinionBytes; cut > 0 {
		for cut < len(message) && !utf8.RuneStart(message[cut]) {
			cut++
		}
		message = message[cut:]
	}
	message = strings.ToValidUTF8(message, "\uFFFD")
	h := fnv.New64a()
	mark := ""
	for mark == "" || strings.Contains(message, mark) {
		_, _ = h.Write([]byte(message)) // never fails
		_, _ = h.Write([]byte{0})
		mark = fmt.Sprintf("%016x", h.Sum64())
	}
	return "message " + mark + "\n" + message + "\nend of message " + mark
}
