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

// Limits on foreign text in reports for people, in characters.
const (
	maxMessage  = 500
	maxEvidence = 300
	maxName     = 200
)

// unexplained is the message of a verdict without a finding.
const unexplained = "no finding explains the verdict"

// JSON writes a report of any kind as indented JSON.
func JSON(w io.Writer, report any) error {
	if err := format.JSON(w, report); err != nil {
		return fmt.Errorf("write the report as JSON: %w", err)
	}
	return nil
}

// failed reports whether a verdict needs attention.
func failed(v gate.Verdict) bool { return v != gate.Pass && v != gate.Skip }

// ByUrgency returns the scenarios sorted by verdict: error, fail, pass, skip. A report that is
// cut keeps the important ones.
func ByUrgency(list []Scenario) []Scenario {
	rank := func(v gate.Verdict) int {
		return slices.Index([]gate.Verdict{gate.Fail, gate.Pass, gate.Skip}, v) // others: -1
	}
	return slices.SortedStableFunc(slices.Values(list), func(a, b Scenario) int {
		return cmp.Compare(rank(a.Verdict), rank(b.Verdict))
	})
}

// verdict returns the verdict of a scenario, with the number of passed trials if there are
// several.
func (s Scenario) verdict() string {
	v := sanitize.Line(string(s.Verdict), 10)
	if s.Trials.Total() > 1 {
		return fmt.Sprintf("%s %d/%d", v, s.Trials.Pass, s.Trials.Total())
	}
	return v
}

// where returns the trial of a finding as a prefix; empty for a scenario with one trial.
func (s Scenario) where(f gate.Finding) string {
	if f.Trial == 0 || s.Planned <= 1 {
		return ""
	}
	return fmt.Sprintf("trial %d: ", f.Trial)
}

// effective returns the findings that explain the verdict: notes only if there is nothing else.
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

// Leading returns the first finding with its evidence on one line: the likely root cause. It is
// empty without findings.
func (s Scenario) Leading() string {
	f, ok := s.Cause()
	if !ok {
		return ""
	}
	text := strings.TrimSuffix(f.Message+": "+f.Evidence, ": ")
	if f.Message == gate.ViolationMessage && f.Evidence != "" {
		text = f.Evidence
	}
	return sanitize.Line(s.where(f)+text, maxMessage)
}

// Cause returns the finding that is the likely root cause; false without findings.
func (s Scenario) Cause() (gate.Finding, bool) {
	found := s.effective()
	if len(found) == 0 {
		return gate.Finding{}, false
	}
	return found[0], true
}

// interrupted is the word for an interrupted run without a failure.
const interrupted = "interrupted"

// Word returns the verdict of a run in one or two words, with the reason if its plan was not
// done or its recording was altered. An interrupted run has never passed.
func Word(r Report) string {
	verdict := sanitize.Line(string(r.Verdict), 10)
	wrong := r.Totals.Scenarios.Error > 0 || len(r.Problems) > 0 || r.Stopped != "" && !r.FailFast
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

// notRun describes the scenarios without a result: those of an interrupted run may have begun.
func notRun(r Report) string {
	if r.Interrupted {
		return "not completed"
	}
	return "not run"
}
