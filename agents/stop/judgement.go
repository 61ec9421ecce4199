package stop

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/rehearse-dev/rehearse/event"
)

// Judgement is the event of a message that a stop guard judged.
type Judgement struct {
	Allow  bool    `json:"allow"` // the agent may stop
	Class  Class   `json:"class"`
	Policy Policy  `json:"policy"`
	Point  Point   `json:"point"`
	Score  float64 `json:"score"`
	Steps  int     `json:"steps"` // work left undone, if the agent may not stop
	// Forced is true if the agent was made to go on.
	Forced bool `json:"forced"`
	// Executed counts the steps of the last refusal that the message reports as done; nil if
	// the agent does not count them.
	Executed *int `json:"executed,omitempty"`
	// Outcome is the decision of a hook, such as "blocked"; empty outside a hook.
	Outcome string `json:"outcome,omitempty"`
	// Detections counts the real detections, Categories those of each category. In JSON, each
	// category is a field such as "category.next_steps".
	Detections int              `json:"detections"`
	Categories map[Category]int `json:"-"`
	// Quotes are the texts of the first detections by number and category, such as
	// "1.next_steps". In JSON, each is a field such as "quote.1.next_steps".
	Quotes map[string]string `json:"-"`
}

// The beginnings of the JSON fields of Judgement.Categories and Judgement.Quotes.
const (
	categoryField = "category."
	quoteField    = "quote."
)

// Bounds on Judgement.Quotes; the length is in bytes.
const (
	maxQuotes = 8
	maxQuote  = 200
)

// Judgement returns the event of a verdict. It is forced if the agent may not stop.
func (v Verdict) Judgement() Judgement {
	j := Judgement{
		Allow: v.MayStop, Class: v.Class, Policy: v.Policy, Point: v.Point, Score: v.Score, Steps: len(v.Steps), Forced: !v.MayStop,
		Categories: map[Category]int{}, Quotes: map[string]string{},
	}
	for _, d := range v.Detections {
		if !d.Real {
			continue
		}
		j.Detections++
		j.Categories[d.Category]++
		if d.Text != "" && j.Detections <= maxQuotes {
			j.Quotes[fmt.Sprintf("%d.%s", j.Detections, d.Category)] = excerpt(d.Text, Span{End: len(d.Text)}, maxQuote)
		}
	}
	return j
}

// Event implements event.Payload.
func (Judgement) Event() (event.Kind, string) { return event.Verdict, "stop" }

// MarshalJSON implements json.Marshaler.
func (j Judgement) MarshalJSON() ([]byte, error) {
	type fixed Judgement
	data, err := json.Marshal(fixed(j))
	if err != nil || len(j.Categories)+len(j.Quotes) == 0 {
		return data, err
	}
	fields := map[string]any{}
	for category, n := range j.Categories {
		fields[categoryField+string(category)] = n
	}
	for name, text := range j.Quotes {
		fields[quoteField+name] = text
	}
	more, err := json.Marshal(fields)
	if err != nil {
		return nil, err
	}
	data[len(data)-1] = ','
	return append(data, more[1:]...), nil
}

// UnmarshalJSON implements json.Unmarshaler.
func (j *Judgement) UnmarshalJSON(data []byte) error {
	type fixed Judgement
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(data, (*fixed)(j)); err != nil {
		return err
	}
	if err := json.Unmarshal(data, &fields); err != nil {
		return err
	}
	j.Categories, j.Quotes = map[Category]int{}, map[string]string{}
	for field, value := range fields {
		if category, ok := strings.CutPrefix(field, categoryField); ok {
			var n int
			if err := json.Unmarshal(value, &n); err != nil {
				return fmt.Errorf("read %s: %w", field, err)
			}
			j.Categories[Category(category)] = n
		} else if name, ok := strings.CutPrefix(field, quoteField); ok {
			var text string
			if err := json.Unmarshal(value, &text); err != nil {
				return fmt.Errorf("read %s: %w", field, err)
			}
			j.Quotes[name] = text
		}
	}
	return nil
}

// Texts returns the descriptions of the steps, in order.
func Texts(steps []Step) []string {
	texts := make([]string, len(steps))
	for i, s := range steps {
		texts[i] = s.Description
	}
	return texts
}
