package detect

import (
	"strings"

	"github.com/rehearse-dev/rehearse/stat"
)

// maxThings limits the labelled and the detected spans or steps of an item that are compared.
// Further ones count as missed or wrong.
const maxThings = 200

// The scopes of Match. annotated and detected index the scopes that not every item is in.
var scopes = [...]string{"annotated", "detected", "all"}

const (
	detected = 1
	all      = 2
)

// matches counts spans or steps in each scope.
type matches struct {
	reported bool // whether the detector ever reported one
	scope    [len(scopes)]struct {
		items          int
		exact, overlap Counts // without TN
	}
}

// addMatches compares the spans and the steps of an item.
func (s *Scorer) addMatches(item *Item, p *Prediction, actual bool) {
	s.steps.reported = s.steps.reported || len(p.Steps) > 0
	s.spans.reported = s.spans.reported || len(p.Spans) > 0
	if actual && len(item.Steps) == 0 {
		return // its steps are unknown
	}
	if !actual {
		// Everything found here is wrong, even if the label of another class names steps.
		s.steps.addWrong(len(p.Steps))
		s.spans.addWrong(len(p.Spans))
		return
	}
	at, missing := locate(item.Text, item.Steps)
	s.located += len(at)
	s.unlocated += missing
	addThings(&s.steps, item.Steps, p.Steps, p.Positive, func(labelled, detected []string) (int, int) {
		return matched(eachWords(labelled), eachWords(detected), compareWords)
	})
	if len(at) > 0 {
		addThings(&s.spans, at, p.Spans, p.Positive, func(labelled, detected [][2]int) (int, int) {
			return matched(labelled, detected, compareSpans)
		})
	}
}

func eachWords(texts []string) []step {
	list := make([]step, len(texts))
	for i, text := range texts {
		list[i] = words(text)
	}
	return list
}

// addThings adds an item with labelled spans or steps.
func addThings[T any](m *matches, labelled, found []T, positive bool, match func(labelled, found []T) (exact, overlap int)) {
	exact, overlap := match(labelled[:min(len(labelled), maxThings)], found[:min(len(found), maxThings)])
	for i := range m.scope {
		if i == detected && !positive {
			continue
		}
		in := &m.scope[i]
		in.items++
		in.exact.addMatched(exact, len(labelled), len(found))
		in.overlap.addMatched(overlap, len(labelled), len(found))
	}
}

// addWrong adds an item without any; everything detected is wrong.
func (m *matches) addWrong(n int) {
	m.scope[all].items++
	m.scope[all].exact.FP += n
	m.scope[all].overlap.FP += n
}

func (c *Counts) addMatched(matched, labelled, found int) {
	c.TP += matched
	c.FN += labelled - matched
	c.FP += found - matched
}

// locate returns the ranges of the steps in the text, each after the previous one if possible, and
// the number of steps that do not occur.
func locate(text string, steps []string) (spans [][2]int, missing int) {
	from := 0
	for _, step := range steps {
		step = strings.TrimSpace(step)
		start := strings.Index(text[from:], step) + from
		if start < from {
			start = strings.Index(text, step)
		}
		if start < 0 || step == "" {
			missing++
			continue
		}
		from = start + len(step)
		spans = append(spans, [2]int{start, from})
	}
	return spans, missing
}

func (m *matches) result(o ScoreOptions) []Match {
	if !m.reported {
		return nil
	}
	var list []Match
	for i, name := range scopes {
		list = append(list, Match{
			Scope: name, Items: m.scope[i].items,
			Exact: m.scope[i].exact.found(o), Overlap: m.scope[i].overlap.found(o),
		})
	}
	return list
}

// found computes scores as if the matches were independent, which those of one message are not
// quite.
func (c Counts) found(o ScoreOptions) Found {
	cells := []int{c.TP, c.FP, c.FN}
	return Found{
		TP: c.TP, FP: c.FP, FN: c.FN,
		Precision: proportion(c.TP, c.TP+c.FP), Recall: proportion(c.TP, c.TP+c.FN),
		F1: valueOf(stat.Bootstrap(cells, cellsF1, o.Resamples, o.Seed, stat.Level)),
	}
}
