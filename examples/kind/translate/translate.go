// Package translate has an agent that translates texts with a model, one call for each, and
// its kind for the harness.
package translate

import (
	"context"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/llm"
)

// Translated is the event of a translated text.
type Translated struct {
	Text       string `json:"text"`
	Characters int    `json:"characters"`
}

// Event implements event.Payload.
func (Translated) Event() (event.Kind, string) { return event.Iteration, "translated" }

// errCut reports an answer that the model did not finish.
var errCut = fmt.Errorf("%s: the answer was cut off", llm.Truncated)

// Agent translates texts with a model.
type Agent struct {
	Model llm.Backend
	Sink  event.Sink
	Clock clock.Clock
	// Timeout limits a call; a failed call is repeated up to Retries times.
	Timeout time.Duration
	Retries int
}

// Translate translates texts into a language. With an error it returns the texts that were
// translated before.
func (a *Agent) Translate(ctx context.Context, language string, texts []string) ([]string, error) {
	var done []string
	for i, text := range texts {
		translated, err := a.translateOne(ctx, "Translate into "+language+":\n"+text)
		if err != nil {
			return done, fmt.Errorf("translate text %d of %d: %w", i+1, len(texts), err)
		}
		done = append(done, translated)
		a.Sink.Emit(event.New(i+1, "", Translated{text, utf8.RuneCountInString(translated)}))
	}
	return done, nil
}

// translateOne translates one text, and repeats failed calls.
func (a *Agent) translateOne(ctx context.Context, prompt string) (answer string, err error) {
	for range 1 + a.Retries {
		if answer, err = a.call(ctx, prompt); err == nil {
			return answer, nil
		}
	}
	return "", err
}

func (a *Agent) call(ctx context.Context, prompt string) (string, error) {
	timed, cancel := a.Clock.WithTimeout(ctx, a.Timeout)
	defer cancel()
	reply, err := a.Model.Complete(timed, llm.Request{
		Purpose: "translate", Messages: []llm.Message{{Role: llm.User, Content: prompt}},
	})
	switch {
	case err != nil && clock.Err(timed) != nil && clock.Err(ctx) == nil:
		return "", fmt.Errorf("%s: no answer within %s", llm.Timeout, a.Timeout)
	case err != nil:
		return "", err
	case reply.Text == "" || reply.Finish == llm.FinishLength:
		return "", errCut
	}
	return reply.Text, nil
}
