// Package match has Gomega matchers for the results of rehearsals and for the scores of
// detectors, with failure messages that show what happened.
//
//	res, err := harness.Rehearse(ctx, harness.Rehearsal{Files: []string{"refund.yaml"}})
//	Expect(err).NotTo(HaveOccurred())
//	Expect(res).To(match.EndedWith("done"))
//	Expect(res).To(match.CallsFor("review", 1))
//
// A matcher takes a *harness.Result, of which it must hold in every trial, or one of its
// trials. Where a number or a text is wanted, a matcher does as well:
// match.Calls(BeNumerically("<=", 3)).
//
// Where nothing can be said, a matcher returns an error, so that the assertion fails both
// with To and with NotTo: of a trial that was skipped or could not be carried out, of a
// number that is unknown, and of trials that differ, some matching and others not.
package match

import (
	"errors"
	"fmt"

	"github.com/onsi/gomega/format"
	"github.com/onsi/gomega/types"

	"github.com/rehearse-dev/rehearse/harness"
)

// seen is what a matcher saw in one trial.
type seen struct {
	ok bool
	// saw is what there was, in words. Where the user gave a matcher, inner is that one,
	// and value what it was given.
	saw   string
	inner types.GomegaMatcher
	value any
}

// trials matches trials, each by itself.
type trials struct {
	// want is what is expected, in words that follow "expected".
	want string
	// look looks at one trial. The error says why nothing can be said of it.
	look func(j *harness.Judged) (seen, error)
	// broken lets it look at trials that were not carried out, too.
	broken bool

	at   *harness.Judged // the trial that the messages show
	seen seen
}

// Match implements types.GomegaMatcher.
func (m *trials) Match(actual any) (bool, error) {
	all, err := trialsOf(actual)
	if err != nil {
		return false, err
	}
	matched := 0
	m.at = nil
	for _, j := range all {
		s, err := m.one(j)
		if err != nil {
			return false, fmt.Errorf("expected %s, and nothing can be said of that: %w\n\n%s", m.want, err, j)
		}
		if s.ok {
			matched++
		}
		if m.at == nil || m.seen.ok && !s.ok {
			m.at, m.seen = j, s
		}
	}
	if matched > 0 && matched < len(all) {
		return false, fmt.Errorf("expected %s in every trial or in none; saw it in %d of %d, and not here:\n%s", m.want, matched, len(all), m.FailureMessage(nil))
	}
	return matched > 0, nil
}

func (m *trials) one(j *harness.Judged) (seen, error) {
	if run := &j.Facts.Run; !m.broken {
		switch {
		case run.Error != "":
			return seen{}, fmt.Errorf("the trial could not be carried out: %s", run.Error)
		case run.Skipped != "":
			return seen{}, fmt.Errorf("the trial was skipped: %s", run.Skipped)
		}
	}
	return m.look(j)
}

// FailureMessage implements types.GomegaMatcher.
func (m *trials) FailureMessage(any) string {
	if m.seen.inner != nil {
		return fmt.Sprintf("Of %s:\n%s\n\n%s", m.want, m.seen.inner.FailureMessage(m.seen.value), m.at)
	}
	return fmt.Sprintf("Expected %s, saw %s.\n\n%s", m.want, m.seen.saw, m.at)
}

// NegatedFailureMessage implements types.GomegaMatcher.
func (m *trials) NegatedFailureMessage(any) string {
	if m.seen.inner != nil {
		return fmt.Sprintf("Of %s:\n%s\n\n%s", m.want, m.seen.inner.NegatedFailureMessage(m.seen.value), m.at)
	}
	return fmt.Sprintf("Did not expect %s, saw %s.\n\n%s", m.want, m.seen.saw, m.at)
}

// trialsOf are the trials of what was given to a matcher, at least one.
func trialsOf(actual any) ([]*harness.Judged, error) {
	switch a := actual.(type) {
	case *harness.Result:
		switch {
		case a == nil:
			return nil, errors.New("the result is nil: look at the error of harness.Rehearse first")
		case len(a.Trials) == 0:
			return nil, errors.New("the result has no trial, of which anything could be said")
		}
		return a.Trials, nil
	case *harness.Judged:
		if a != nil {
			return []*harness.Judged{a}, nil
		}
	case harness.Judged:
		return []*harness.Judged{&a}, nil
	}
	return nil, fmt.Errorf("expected a *harness.Result or one of its Trials, got\n%s", format.Object(actual, 1))
}
