package judge

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/rehearse-dev/rehearse/stat"
)

// schema identifies the JSON form of an Agreement.
const schema = "rehearse.agreement/1"

// Labelled is an item with a person's verdict.
type Labelled struct {
	Item
	Pass bool `json:"pass"`
}

// Agreement measures how well a judge agrees with labels.
type Agreement struct {
	Schema string `json:"schema"`
	// Judge is the Digest of the measured judge.
	Judge string `json:"judge"`
	// Items counts the labelled items; Unformed those without a well-formed verdict.
	Items    int `json:"items"`
	Unformed int `json:"unformed,omitempty"`
	// Confusion counts the judge's verdicts by label.
	Confusion Confusion `json:"confusion"`
	// Kappa is Cohen's kappa with its interval; nil if undefined.
	Kappa    *float64       `json:"kappa"`
	Interval *stat.Interval `json:"interval,omitempty"`
	Warnings []string       `json:"warnings,omitempty"`
}

// Confusion counts verdicts by label, each key naming the label first.
type Confusion struct {
	PassPassed int `json:"pass_passed"`
	PassFailed int `json:"pass_failed"`
	FailPassed int `json:"fail_passed"`
	FailFailed int `json:"fail_failed"`
}

// always returns the verdict that the judge gave for every item; empty if it gave both.
func (c Confusion) always() string {
	switch {
	case c.PassFailed+c.FailFailed == 0:
		return "pass"
	case c.PassPassed+c.FailPassed == 0:
		return "fail"
	}
	return ""
}

// minLabels is the smallest number of items with either label for which an agreement can be
// measured.
const minLabels = 10

// Measure asks a judge about labelled items, one after the other. Malformed answers are counted;
// any other error ends the measurement.
func Measure(ctx context.Context, m *Model, items []Labelled) (Agreement, error) {
	if err := enough(items); err != nil {
		return Agreement{}, err
	}
	a := Agreement{Schema: schema, Judge: m.Digest(), Items: len(items)}
	for i := range items {
		score, err := m.Score(ctx, items[i].Item)
		if _, unformed := errors.AsType[*FormError](err); unformed {
			a.Unformed++
			continue
		}
		if err != nil {
			return Agreement{}, fmt.Errorf("item %d (%s): %w", i+1, quoted(items[i].ID), err)
		}
		a.add(items[i].Pass, score.Pass)
	}
	a.kappa()
	return a, nil
}

// enough returns an error if there are too few labels.
func enough(items []Labelled) error {
	passed := 0
	for _, it := range items {
		if it.Pass {
			passed++
		}
	}
	if passed < minLabels || len(items)-passed < minLabels {
		return fmt.Errorf("%d items are labelled pass and %d fail; at least %d of either are needed to measure an agreement",
			passed, len(items)-passed, minLabels)
	}
	return nil
}

func (a *Agreement) add(label, verdict bool) {
	c := &a.Confusion
	switch {
	case label && verdict:
		c.PassPassed++
	case label:
		c.PassFailed++
	case verdict:
		c.FailPassed++
	default:
		c.FailFailed++
	}
}

// kappa sets Cohen's kappa and its interval.
func (a *Agreement) kappa() {
	c := a.Confusion
	s := stat.KappaInterval([][]int{{c.PassPassed, c.PassFailed}, {c.FailPassed, c.FailFailed}}, stat.Level)
	a.Warnings, a.Interval = s.Warnings, s.Interval
	if !math.IsNaN(s.Value) {
		a.Kappa = &s.Value
	}
}

// Reaches returns nil if the judge with a digest may gate: it is the measured one, all of its
// answers were well-formed, and the lower end of kappa's interval is at least least.
func (a *Agreement) Reaches(digest string, least float64) error {
	switch {
	case a.Judge != digest:
		return errors.New("the agreement was measured for another rubric, model or prompt; measure it again")
	case a.Unformed > 0:
		return fmt.Errorf("the judge's answer was malformed for %d of %d labelled items", a.Unformed, a.Items)
	case a.Confusion.always() != "":
		return fmt.Errorf("its verdict is %s for all %d items, whatever their label", a.Confusion.always(), a.Items)
	case a.Kappa == nil || a.Interval == nil:
		return errors.New("kappa is not defined for what was measured; label more items, of both kinds")
	case !(a.Interval.Lo >= least):
		return fmt.Errorf("kappa is %.2f, and at least %.2f at a level of %.0f %%: below the required %.2f; its verdicts cannot be relied on",
			*a.Kappa, a.Interval.Lo, a.Interval.Level*100, least)
	}
	return nil
}

// Gate returns m if its agreement reaches least, else a scorer that rejects every item with the
// reason.
func Gate(m *Model, a *Agreement, least float64) Scorer {
	if a == nil {
		return refusing{errors.New("its agreement with labels was never measured")}
	}
	if err := a.Reaches(m.Digest(), least); err != nil {
		return refusing{err}
	}
	return m
}

type refusing struct{ why error }

// Score implements Scorer; it always fails.
func (r refusing) Score(context.Context, Item) (Score, error) {
	return Score{}, fmt.Errorf("the judge may not gate: %w", r.why)
}
