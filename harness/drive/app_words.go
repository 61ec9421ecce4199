package drive

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/scenarios/user"
)

// mostWords limits a text of the user's model, in bytes.
const mostWords = 4_000

// words returns the text of a message in the words of the user's model. It returns the machine's own text if the scenario
// has no such model, or if the model's text lacks a fact.
// The call is recorded apart from the agent's calls.
func (s *talkScript) words(ctx context.Context, next *user.Message) (string, error) {
	if s.model == nil || next.Fixed {
		return next.Text, nil
	}
	system, said, err := s.user.Prompt(next, s.said)
	if err != nil {
		return "", err
	}
	timed, cancel := s.trial.Clock.WithTimeout(ctx, s.Talk.Timeout.Std())
	defer cancel()
	reply, err := s.model.Complete(timed, llm.Request{
		Purpose: "user", Messages: []llm.Message{{Role: llm.System, Content: system}, {Role: llm.User, Content: said}},
	})
	if ended := clock.Err(ctx); ended != nil {
		return "", ended
	}
	text := strings.TrimSpace(sanitize.Text(reply.Text, 0))
	call := record.UserCall{Model: reply.Model, Usage: reply.Usage}
	switch {
	case clock.Err(timed) != nil:
		err = fmt.Errorf("it did not answer within %s (timeout)", s.Talk.Timeout)
	case err != nil:
		if failed, ok := errors.AsType[*llm.Error](err); ok {
			call.Usage = cmp.Or(call.Usage, failed.Usage)
		}
	case text == "":
		err = errors.New("its answer is empty; use another model, or leave backend out under user")
	case reply.Finish == llm.FinishLength:
		err = errors.New("its answer was cut off at its limit of tokens; raise --max-output, or use another model")
	case len(text) > mostWords:
		err = fmt.Errorf("its answer has %d bytes, and a message of a user at most %d; use another model", len(text), mostWords)
	}
	if err != nil {
		call.Error = err.Error()
		s.site.Emit(event.New(s.turns+1, next.Text, call))
		return "", fmt.Errorf("the model of the simulated user failed at turn %d: %w", s.turns+1, err)
	}
	if call.Lacks = s.user.Lacks(next, text); len(call.Lacks) > 0 {
		call.Unused, text = text, next.Text
	}
	s.site.Emit(event.New(s.turns+1, next.Text, call))
	s.user.Sent(text)
	return text, nil
}
