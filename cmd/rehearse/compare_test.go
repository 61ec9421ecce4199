package main

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness/baseline"
	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/reports"
)

// TestRunFindings: each thing that keeps a run from standing for its plan does so by
// itself, whatever else is found.
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

// TestOpenBaseline: a run is held against no file that it could not fall behind.
func TestOpenBaseline(t *testing.T) {
	g := gomega.NewWithT(t)
	empty := filepath.Join(t.TempDir(), baseline.File)
	g.Expect(os.WriteFile(empty, baseline.Encode(baseline.Baseline{Rules: baseline.DefaultRules()}), 0o600)).To(gomega.Succeed())
	_, err := readBaseline(empty)
	g.Expect(err).NotTo(gomega.HaveOccurred(), "the file itself is as it was written")

	for name, tc := range map[string]struct {
		file string
		args []string
		want string
	}{
		"no scenario":                    {empty, nil, "has no scenario"},
		"a file beside the flag":         {baseline.File, []string{"other.json"}, "write --baseline=other.json"},
		"a file that is not there":       {empty + ".not", nil, "there is no baseline"},
		"no scenario, and some selected": {empty, []string{"loop/*"}, "has no scenario"},
	} {
		t.Run(name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			_, err := openBaseline(tc.file, tc.args)
			g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring(tc.want)))
			exit, ok := errors.AsType[*exitError](err)
			g.Expect(ok).To(gomega.BeTrue())
			g.Expect(exit.code).To(gomega.Equal(exitUsage))
		})
	}

	without, err := openBaseline("", []string{"other.json"})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(without).To(gomega.BeNil())
}
