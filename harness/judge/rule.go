package judge

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/internal/sanitize"
)

// Rule scores by the literal text of an answer. All given criteria must be met; a rule needs at
// least one.
type Rule struct {
	// Contains and Lacks are texts that the answer must, and must not, contain.
	Contains []string `yaml:"contains,omitempty" json:"contains,omitempty"`
	Lacks    []string `yaml:"lacks,omitempty" json:"lacks,omitempty"`
	// Matches is a regular expression (RE2) that must match somewhere in the answer.
	Matches string `yaml:"matches,omitempty" json:"matches,omitempty"`
	// Equals is the expected answer, compared without surrounding white space.
	Equals *string `yaml:"equals,omitempty" json:"equals,omitempty"`
	// MinWords and MaxWords bound the number of words, separated by white space; 0 means no bound.
	MinWords int `yaml:"min_words,omitempty" json:"min_words,omitempty" jsonschema:"minimum=0"`
	MaxWords int `yaml:"max_words,omitempty" json:"max_words,omitempty" jsonschema:"minimum=0"`
}

// Scorer compiles the rule, or returns an error if it is invalid.
func (r Rule) Scorer() (Scorer, error) {
	s := ruled{Rule: r}
	switch {
	case len(r.Contains)+len(r.Lacks)+r.MinWords+r.MaxWords == 0 && r.Matches == "" && r.Equals == nil:
		return nil, errors.New("the rule has no criterion and would pass everything; " +
			"set contains, lacks, matches, equals, min_words or max_words")
	case r.MinWords < 0 || r.MaxWords < 0 || r.MaxWords > 0 && r.MinWords > r.MaxWords:
		return nil, fmt.Errorf("no text has between %d and %d words", r.MinWords, r.MaxWords)
	}
	if slices.Contains(r.Contains, "") || slices.Contains(r.Lacks, "") {
		return nil, errors.New("every answer contains the empty text; remove it from contains and lacks")
	}
	if r.Matches != "" {
		var err error
		if s.pattern, err = regexp.Compile(r.Matches); err != nil {
			return nil, fmt.Errorf("matches: %w (RE2 syntax)", err)
		}
	}
	return s, nil
}

// ruled is a compiled rule.
type ruled struct {
	Rule
	pattern *regexp.Regexp
}

// Score implements Scorer; it never fails.
func (r ruled) Score(_ context.Context, item Item) (Score, error) {
	why := r.broken(item.Text)
	return Score{Pass: why == "", Why: why}, nil
}

// broken describes the first criterion that the text does not meet; empty if it meets all.
func (r ruled) broken(text string) string {
	for _, want := range r.Contains {
		if !strings.Contains(text, want) {
			return fmt.Sprintf("it does not contain %s", quoted(want))
		}
	}
	for _, unwanted := range r.Lacks {
		if strings.Contains(text, unwanted) {
			return fmt.Sprintf("it contains %s", quoted(unwanted))
		}
	}
	words := len(strings.Fields(text))
	switch {
	case r.pattern != nil && !r.pattern.MatchString(text):
		return fmt.Sprintf("it does not match %s", quoted(r.Matches))
	case r.Equals != nil && strings.TrimSpace(text) != strings.TrimSpace(*r.Equals):
		return fmt.Sprintf("it is %s and not %s", quoted(text), quoted(*r.Equals))
	case words < r.MinWords:
		return fmt.Sprintf("it has %d words, and at least %d are required", words, r.MinWords)
	case r.MaxWords > 0 && words > r.MaxWords:
		return fmt.Sprintf("it has %d words, and at most %d are allowed", words, r.MaxWords)
	}
	return ""
}

// maxQuote limits the quoted part of a text in a message, in characters.
const maxQuote = 120

func quoted(text string) string { return `"` + sanitize.Line(text, maxQuote) + `"` }
