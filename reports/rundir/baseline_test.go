package rundir

import (
	"testing"

	"github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/reports"
)

// Each reason why a run does not represent its plan is a finding by itself.
func TestRunFindings(t *testing.T) {
	for name, tc := range map[string]struct {
		report reports.Report
		want   []gate.Finding
	}{
		"a whole run":        {reports.Report{}, nil},
		"a torn recording":   {reports.Report{Problems: []string{"line 3 is cut off"}}, []gate.Finding{{Severity: gate.Broken, Rule: "recording", Message: "AFTER: something is wrong with the recording", Evidence: "line 3 is cut off"}}},
		"an interrupted run": {reports.Report{Interrupted: true}, []gate.Finding{{Severity: gate.Broken, Rule: "interrupted", Message: "AFTER: the run was interrupted before its plan was done"}}},
		"a stopped run":      {reports.Report{Stopped: "a budget"}, []gate.Finding{{Severity: gate.Broken, Rule: "stopped", Message: "AFTER: the run was stopped before its plan was done", Evidence: "a budget"}}},
		"a part of the plan": {reports.Report{NotRun: []string{"a", "b"}}, []gate.Finding{{Severity: gate.Broken, Rule: "not-run", Message: "AFTER: 2 planned scenarios did not run", Evidence: "a, b"}}},
	} {
		t.Run(name, func(t *testing.T) {
			gomega.NewWithT(t).Expect(runFindings(tc.report, "AFTER")).To(gomega.Equal(tc.want))
		})
	}
}
