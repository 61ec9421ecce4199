// Package match has Gomega matchers for the results of rehearsals and for the scores of
// detectors, with failure messages that show what happened.
//
//	res, err := harness.Rehearse(ctx, harness.Rehearsal{Files: []string{"refund.yaml"}})
//	Expect(err).NotTo(HaveOccurred())
//	Expect(res).To(match.EndedWith("done"))
//	Expect(res).To(match.CallsFor("review", 1))
//
// A matcher takes a *harness.Result, of which it must match every trial, or one of its trials.
// A number or a text can also be given as a matcher:
// match.Calls(BeNumerically("<=", 3)).
//
// A matcher returns an error, which fails both To and NotTo, if it cannot decide: for a trial
// that was skipped or could not be carried out, for an unknown number, and if only some of the
// trials match.
package match

import (
	"errors"
	"fmt"

	"github.com/onsi/gomega/format"
	"github.com/onsi/gomega/types"

	"github.com/rehearse-dev/rehearse/harness"
)

// observation is the result of a matcher in one trial.
type observation struct {
	ok bool
	// saw describes the observed value. If the user gave a matcher, inner is that matcher and
	// value its argument.
	saw   string
	inner types.GomegaMatcher
	value any
}

// trials matches trials one by one.
type trials struct {
	// want describes the expectation; it follows "expected".
	want string
	// inspect checks one trial. It returns an error if it cannot decide.
	inspect func(j *harness.Judged) (observation, error)
	// broken also inspects trials that were not carried out.
	broken bool

	at   *harness.Judged // the trial that the messages show
	seen observation
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
			return false, fmt.Errorf("expected %s, which cannot be checked: %w\n\n%s", m.want, err, j)
		}
		if s.ok {
			matched++
		}
		if m.at == nil || m.seen.ok && !s.ok {
			m.at, m.seen = j, s
		}
	}
	if matched > 0 && matched < len(all) {
		return false, fmt.Errorf("expected %s in every trial or in none; saw it in %d of %d, and not here:\n%s",
			m.want, matched, len(all), m.FailureMessage(nil))
	}
	return matched > 0, nil
}

func (m *trials) one(j *harness.Judged) (observation, error) {
	if run := &j.Facts.Run; !m.broken {
		switch {
		case run.Error != "":
			return observation{}, fmt.Errorf("the trial could not be carried out: %s", run.Error)
		case run.Skipped != "":
			return observation{}, fmt.Errorf("the trial was skipped: %s", run.Skipped)
		}
	}
	return m.inspect(j)
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

// trialsOf returns the trials of a matcher's argument, at least one.
func trialsOf(actual any) ([]*harness.Judged, error) {
	switch a := actual.(type) {
	case *harness.Result:
		switch {
		case a == nil:
			return nil, errors.New("the result is nil; check the error of harness.Rehearse first")
		case len(a.Trials) == 0:
			return nil, errors.New("the result has no trials")
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
