package reports

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
)

// Limits on foreign text in reports for people, in characters. JSON has it all.
const (
	maxMessage  = 500
	maxEvidence = 300
	maxName     = 200
)

// JSON writes a report of any kind as indented JSON.
func JSON(w io.Writer, report any) error {
	if err := format.JSON(w, report); err != nil {
		return fmt.Errorf("write the report as JSON: %w", err)
	}
	return nil
}

// failed reports whether v needs somebody's attention.
func failed(v gate.Verdict) bool { return v != gate.Pass && v != gate.Skip }

// ByUrgency returns scenarios with those that did not pass first, error before
// fail, so that what matters survives where a report is cut.
func ByUrgency(list []Scenario) []Scenario {
	rank := func(v gate.Verdict) int {
		return slices.Index([]gate.Verdict{gate.Fail, gate.Pass, gate.Skip}, v) // others: -1
	}
	return slices.SortedStableFunc(slices.Values(list), func(a, b Scenario) int {
		return cmp.Compare(rank(a.Verdict), rank(b.Verdict))
	})
}

// verdict shows the verdict of a scenario, with the trials that passed where
// there was more than one.
func (s Scenario) verdict() string {
	v := sanitize.Line(string(s.Verdict), 10)
	if s.Trials.Total() > 1 {
		return fmt.Sprintf("%s %d/%d", v, s.Trials.Pass, s.Trials.Total())
	}
	return v
}

// where says to which trial a finding belongs; empty in a scenario with one.
func (s Scenario) where(f gate.Finding) string {
	if f.Trial == 0 || s.Planned <= 1 {
		return ""
	}
	return fmt.Sprintf("trial %d: ", f.Trial)
}

// effective returns the findings that explain the verdict: not those that are
// merely noted, unless there are no others.
func (s Scenario) effective() []gate.Finding {
	var list []gate.Finding
	for _, f := range s.Findings {
		if f.Severity != gate.Info {
			list = append(list, f)
		}
	}
	if list == nil {
		return s.Findings
	}
	return list
}

// Leading returns in one line what the scenario's first finding says, with its evidence:
// the nearest to the root cause that is known. It is empty if nothing was found.
func (s Scenario) Leading() string {
	found := s.effective()
	if len(found) == 0 {
		return ""
	}
	text := strings.TrimSuffix(found[0].Message+": "+found[0].Evidence, ": ")
	if found[0].Message == gate.ViolationMessage && found[0].Evidence != "" {
		text = found[0].Evidence
	}
	return sanitize.Line(s.where(found[0])+text, maxMessage)
}

// interrupted is what became of a run that was interrupted before its plan was done, as
// far as nothing else is wrong.
const interrupted = "interrupted"

// Word returns in a word or two what became of the run: its verdict, and whether its plan
// was done. A run that was interrupted has never passed. An altered recording is named
// before all else.
func Word(r Report) string {
	verdict := sanitize.Line(string(r.Verdict), 10)
	wrong := r.Totals.Scenarios.Error > 0 || len(r.Problems) > 0 || r.Stopped != ""
	switch {
	case r.Altered:
		return verdict + " (altered recording)"
	case r.Interrupted && (r.Verdict == gate.Fail || wrong):
		return verdict + " (interrupted)"
	case r.Interrupted:
		return interrupted
	case r.Stopped != "":
		return verdict + " (stopped)"
	}
	return verdict
}

// notRun says of the scenarios without a result what became of them: those of an
// interrupted run may have been under way.
func notRun(r Report) string {
	if r.Interrupted {
		return "not run to the end"
	}
	return "not run"
}
