package detect

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/rehearse-dev/rehearse/internal/sanitize"
)

const (
	// maxAnswer limits the size of an external detector's answer for one item.
	maxAnswer = 1 << 20
	// maxQuote limits quotations of foreign text in errors, in characters.
	maxQuote = 300
	// DefaultTimeout limits the time of an external detector for one item.
	DefaultTimeout = 30 * time.Second
)

// question is sent to an external detector. It does not contain the label.
type question struct {
	ID      string `json:"id"`
	Text    string `json:"text"`
	Request string `json:"request,omitempty"`
	Lang    string `json:"lang,omitempty"`
}

// encode returns the question about an item as one line without its end.
func encode(item Item) ([]byte, error) {
	line, err := json.Marshal(question{item.ID, item.Text, item.Request, item.Lang})
	if err != nil { // such as text that is not UTF-8, which no corpus file holds
		return nil, fmt.Errorf("ask about item %s: %w", item.ID, err)
	}
	return line, nil
}

// answer is the answer of an external detector; unknown keys are ignored.
type answer struct {
	ID         string   `json:"id"`
	Error      string   `json:"error"`
	Positive   *bool    `json:"positive"`
	Class      string   `json:"class"`
	Score      *float64 `json:"score"`
	Spans      [][2]int `json:"spans"`
	Categories []string `json:"categories"`
	Steps      []string `json:"steps"`
	Reasons    []string `json:"reasons"`
}

// decode parses and validates an answer about an item. An invalid answer is a failure and must not
// be taken for a negative one.
func decode(raw []byte, item Item) (Prediction, error) {
	var a answer
	if err := json.Unmarshal(raw, &a); err != nil {
		return Prediction{}, fmt.Errorf("the answer is not a valid JSON object: %s; it begins %q",
			sanitize.Line(err.Error(), maxQuote), sanitize.Line(head(raw), maxQuote))
	}
	if a.ID != item.ID {
		return Prediction{}, fmt.Errorf("the answer is about item %q, not %q",
			sanitize.Line(a.ID, maxQuote), sanitize.Line(item.ID, maxQuote))
	}
	if a.Error != "" {
		return Prediction{}, fmt.Errorf("the detector reported an error: %s", sanitize.Line(a.Error, maxQuote))
	}
	if err := a.check(len(item.Text)); err != nil {
		return Prediction{}, err
	}
	return Prediction{
		Positive: *a.Positive, Class: a.Class, Score: a.Score, Spans: SortSpans(a.Spans),
		Categories: a.Categories, Steps: a.Steps, Reasons: a.Reasons,
	}, nil
}

// check returns an error if an answer about a text of size bytes is invalid.
func (a *answer) check(size int) error {
	if a.Positive == nil {
		return errors.New(`the answer has no key "positive"`)
	}
	if known := labels(); a.Class != "" && !slices.Contains(known, a.Class) {
		return fmt.Errorf("the answer's class %q is not one of %s", sanitize.Line(a.Class, maxQuote), strings.Join(known, ", "))
	}
	if a.Score != nil && (*a.Score < 0 || *a.Score > 1) {
		return fmt.Errorf("the answer's score %g is not in [0, 1]", *a.Score)
	}
	for _, s := range a.Spans {
		if s[0] < 0 || s[0] > s[1] || s[1] > size {
			return fmt.Errorf("the answer's span %v is not a range of the text's %d bytes", s, size)
		}
	}
	return nil
}

func head(raw []byte) string { return string(raw[:min(len(raw), 4*maxQuote)]) }

// labels returns the labels of all kinds, because a program does not learn which kind it is asked
// about.
func labels() []string {
	var all []string
	for _, kind := range CorpusKinds() {
		all = append(all, kind.Labels()...)
	}
	return all
}
