// Package translate is an agent that translates texts with a model, one call for each, and
// what the harness needs to know of it.
package translate

import (
	"context"
	"errors"
	"fmt"

	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/llm"
)

// Translated is the event of a text that was translated.
type Translated struct {
	Text       string `json:"text"`
	Characters int    `json:"characters"`
}

// errCut reports an answer that the model did not finish.
var errCut = errors.New("the answer was cut off")

// Translate translates texts into a language. A call that fails is repeated up to retries
// times. The texts that were translated are returned, also with an error.
func Translate(ctx context.Context, model llm.Backend, sink event.Sink, language string, texts []string, retries int) ([]string, error) {
	var done []string
	for i, text := range texts {
		translated, err := one(ctx, model, language, text, retries)
		if err != nil {
			return done, fmt.Errorf("translate text %d of %d: %w", i+1, len(texts), err)
		}
		done = append(done, translated)
		sink.Tell(event.Event{
			Kind: event.Iteration, Name: "translated", N: i + 1, Attrs: event.Attrs(Translated{text, len(translated)}),
		})
	}
	return done, nil
}

func one(ctx context.Context, model llm.Backend, language, text string, retries int) (translated string, err error) {
	for range 1 + retries {
		var reply llm.Reply
		reply, err = model.Complete(ctx, llm.Request{
			Purpose:  "translate",
			Messages: []llm.Message{{Role: llm.User, Content: "Translate into " + language + ":\n" + text}},
		})
		switch {
		case err != nil:
		case reply.Text == "" || reply.Finish == llm.FinishLength:
			err = errCut
		default:
			return reply.Text, nil
		}
	}
	return "", err
}
