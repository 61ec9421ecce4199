// Package judge scores answers: by deterministic rules first, and by a language model
// whose agreement with labels was measured before its verdicts may gate.
//
// A rule costs nothing and says the same each time; what can be said by one should be. A
// model is asked about the rest. It may be wrong, may be talked into something by the
// text that it judges, and may not answer in form; so its verdict counts only where it
// agreed well enough with people on labelled answers, and is an error otherwise, never a
// pass.
package judge

import (
	"context"
	"fmt"
)

// Item is an answer to be scored.
type Item struct {
	// ID names it in errors and recordings; may be empty.
	ID string `json:"id,omitempty"`
	// Task is what was asked for; may be empty.
	Task string `json:"task,omitempty"`
	// Text is the answer.
	Text string `json:"text"`
}

// Score is what a scorer says of an item.
type Score struct {
	// Pass says whether the item meets what is asked of it.
	Pass bool `json:"pass"`
	// Why says it in a sentence; a model's words are its own.
	Why string `json:"why,omitempty"`
}

// Scorer scores items. It is safe for concurrent use. Where it cannot tell, it returns an
// error and no score: nobody can take that for a pass.
type Scorer interface {
	Score(ctx context.Context, item Item) (Score, error)
}

// FormError is a judge that did not answer in the form that it was asked for, however
// often it was asked.
type FormError struct {
	// Tries is how often it was asked.
	Tries int
	// Problem says what was wrong with the last answer.
	Problem string
}

// Error makes it an error.
func (e *FormError) Error() string {
	return fmt.Sprintf("the judge did not answer in form, asked %d times: %s; give it another model or a clearer rubric", e.Tries, e.Problem)
}
