// Package judge scores answers: by deterministic rules first, and by a language model whose
// agreement with labels was measured before its verdicts may gate.
//
// A rule costs nothing and always gives the same verdict, so rules should check whatever they can.
// A model judges the rest. It may be wrong, may be manipulated by the text that it judges, and may
// answer malformed; so its verdict counts only if it agreed well enough with people on labelled
// answers. Otherwise it is an error, never a pass.
package judge

import (
	"context"
	"fmt"
)

// Item is an answer to be scored.
type Item struct {
	// ID names the item in errors and recordings; may be empty.
	ID string `json:"id,omitempty"`
	// Task is the task that was given to the agent; may be empty.
	Task string `json:"task,omitempty"`
	// Text is the answer.
	Text string `json:"text"`
}

// Score is the verdict of a scorer on an item.
type Score struct {
	// Pass reports whether the item meets the criteria.
	Pass bool `json:"pass"`
	// Why explains the verdict in a sentence, which may be a model's own.
	Why string `json:"why,omitempty"`
}

// Scorer scores items. It is safe for concurrent use. If it cannot decide, it returns an error,
// never a pass.
type Scorer interface {
	Score(ctx context.Context, item Item) (Score, error)
}

// FormError reports a judge whose answers stayed malformed after all retries.
type FormError struct {
	// Tries is the number of attempts.
	Tries int
	// Problem describes the defect of the last answer.
	Problem string
}

// Error implements error.
func (e *FormError) Error() string {
	return fmt.Sprintf("the judge's answer is malformed after %d attempts: %s; use another model or a clearer rubric", e.Tries, e.Problem)
}
