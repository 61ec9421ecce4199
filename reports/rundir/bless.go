package rundir

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/harness/compare"
	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/reports"
)

// BlessError is the reason why a run cannot become a baseline.
type BlessError struct {
	// Verdict is the verdict of the run; empty if the run has no scenario, or a perturbed one.
	Verdict gate.Verdict
	why     string
}

func (e *BlessError) Error() string { return "not blessed: " + e.why }

// CheckBless returns a BlessError if the run does not represent its scenarios.
func (s *Side) CheckBless(allowFailing bool) error {
	if s.report.Altered {
		return &BlessError{gate.Fail, fmt.Sprintf("the recording of %s was altered: %s; run the scenarios again", s.path, s.report.Problems[1])}
	}
	for _, f := range runFindings(s.report, "the run") {
		return &BlessError{gate.Error, strings.TrimSuffix(f.Message+": "+f.Evidence, ": ")}
	}
	var failing []string
	for i := range s.Scenarios {
		name := s.Scenarios[i].Name
		if s.perturbed(name) {
			return &BlessError{why: name + " is perturbed, and later runs are not; bless a run without --perturb"}
		}
		switch s.Scenarios[i].Verdict {
		case gate.Pass:
		case gate.Fail:
			failing = append(failing, name)
		case gate.Skip:
			return &BlessError{gate.Error, name + " was skipped, so later runs could not be compared with it; " +
				"bless a run of a machine that can drive it"}
		default:
			return &BlessError{gate.Error, name + " has no verdict; see why with: " + format.ShellLine("rehearse", "report", s.path)}
		}
	}
	switch {
	case len(s.Scenarios) == 0:
		return &BlessError{why: "no scenario was run"}
	case len(failing) > 0 && !allowFailing:
		return &BlessError{gate.Fail, fmt.Sprintf("%s failed (%s); fix it, or bless it as it is with --allow-failing",
			format.Count(len(failing), "scenario"), strings.Join(failing, ", "))}
	}
	return nil
}

// perturbed reports whether a scenario of the run has perturbations.
func (s *Side) perturbed(name string) bool {
	return slices.ContainsFunc(s.report.Scenarios, func(sc reports.Scenario) bool { return sc.Name == name && len(sc.Perturb) > 0 })
}

// EncodeBaseline returns the file of a baseline, which can be read back.
func EncodeBaseline(path string, b compare.Baseline) ([]byte, error) {
	data := compare.Encode(b)
	if _, err := compare.ReadBaseline(path, bytes.NewReader(data)); err != nil {
		return nil, fmt.Errorf("the run does not fit into a baseline: %w", err)
	}
	return data, nil
}

// TrialsWarning warns of scenarios that have too few trials for a regression to be found; it is
// empty without such scenarios.
func TrialsWarning(b *compare.Baseline) string {
	trials, tests, few := compare.TrialsNeeded(b, b.Rules)
	if len(few) == 0 {
		return ""
	}
	const most = 5
	names := strings.Join(few[:min(most, len(few))], ", ")
	if len(few) > most {
		names += fmt.Sprintf(" and %d more", len(few)-most)
	}
	have := "have"
	if len(few) == 1 {
		have = "has"
	}
	return fmt.Sprintf("warning: %s %s too few trials for what varies in them: %s.\n"+
		"With %s of this baseline, it takes at least %d trials (--trials %d) to find a regression;\n"+
		"with fewer, a clear one ends without a verdict (exit code 3), and a small one is green.\n",
		format.Count(len(few), "scenario"), have, names, format.Count(tests, "test"), trials, trials)
}
