package rundir

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/reports"
)

// judged is a scenario of a report with trials of these verdicts, of which planned were planned.
func judged(name string, planned int, verdicts ...gate.Verdict) reports.Scenario {
	s := reports.Scenario{Name: name, Planned: planned}
	for _, v := range verdicts {
		s.Trials.Add(v)
	}
	s.Verdict = s.Trials.Verdict()
	if len(verdicts) < planned {
		s.Verdict = gate.Error
	}
	return s
}

// H-01: a folder of runs remembers the verdict of each scenario in the last run that had one.
func TestLastVerdicts(t *testing.T) {
	g := gomega.NewWithT(t)
	runs := t.TempDir()
	_, err := ReadLast(runs)
	g.Expect(err).To(gomega.MatchError(ErrNoLast))

	all := reports.Report{Scenarios: []reports.Scenario{
		judged("a", 1, gate.Fail), judged("b", 1, gate.Error), judged("c", 1, gate.Pass), judged("d", 2, gate.Skip, gate.Skip), judged("e", 1, gate.Fail),
	}}
	g.Expect(Remember(runs, filepath.Join(runs, "first"), &all, map[string]float64{"slow": 2, "fast": 1})).To(gomega.Succeed())
	// The second run is of a part of the scenarios, and was interrupted.
	some := reports.Report{Interrupted: true, NotRun: []string{"b", "f"}, Scenarios: []reports.Scenario{
		judged("a", 1, gate.Pass), judged("c", 3, gate.Pass), judged("d", 3, gate.Pass, gate.Fail),
	}}
	elsewhere := t.TempDir()
	g.Expect(Remember(runs, elsewhere, &some, map[string]float64{"fast": 3})).To(gomega.Succeed())
	g.Expect(Remember(runs, filepath.Join(runs, "explored"), nil, nil)).To(gomega.Succeed())

	last, err := ReadLast(runs)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(last.Folder).To(gomega.Equal("explored"))
	g.Expect(last.Verdicts).To(gomega.Equal(map[string]gate.Verdict{"a": gate.Pass, "b": gate.Error, "c": "", "d": gate.Fail, "e": gate.Fail, "f": ""}))
	g.Expect(last.Seconds).To(gomega.Equal(map[string]float64{"slow": 2, "fast": 3}))
	for name, want := range map[string]bool{"a": false, "b": true, "c": false, "d": true, "e": true, "unknown": false} {
		g.Expect(last.Failed(name)).To(gomega.Equal(want), name)
	}
	for name, want := range map[string]bool{"a": false, "b": true, "c": true, "d": true, "e": true, "f": true, "unknown": true} {
		g.Expect(last.Due(name)).To(gomega.Equal(want), name)
	}
}

func TestLastVerdictsThatAreDamaged(t *testing.T) {
	g := gomega.NewWithT(t)
	runs := t.TempDir()
	for _, text := range []string{"{", `{"schema":"rehearse.last/9","folder":"x","verdicts":{"a":"fail"}}`, "null"} {
		g.Expect(os.WriteFile(filepath.Join(runs, lastFile), []byte(text), 0o600)).To(gomega.Succeed())
		_, err := ReadLast(runs)
		g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring("delete it, and run the scenarios again")), text)
		report := reports.Report{Scenarios: []reports.Scenario{judged("b", 1, gate.Pass)}}
		g.Expect(Remember(runs, runs, &report, nil)).To(gomega.Succeed())
		last, err := ReadLast(runs)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		g.Expect(last.Verdicts).To(gomega.Equal(map[string]gate.Verdict{"b": gate.Pass}))
	}
}

// H-06: the last run is the remembered one, else the newest one that was completed.
func TestLastRun(t *testing.T) {
	g := gomega.NewWithT(t)
	runs := filepath.Join(t.TempDir(), "runs")
	_, err := LastRun(runs)
	g.Expect(err).To(gomega.MatchError(ErrNoLast))
	at := time.Date(2026, 11, 23, 10, 0, 0, 0, time.UTC)
	add := func(folder, file string, when time.Time) string {
		g.Expect(os.MkdirAll(folder, 0o700)).To(gomega.Succeed())
		name := filepath.Join(folder, file)
		g.Expect(os.WriteFile(name, nil, 0o600)).To(gomega.Succeed())
		g.Expect(os.Chtimes(name, when, when)).To(gomega.Succeed())
		return folder
	}
	g.Expect(os.MkdirAll(runs, 0o700)).To(gomega.Succeed())
	add(filepath.Join(runs, "killed"), RecordingFile+".partial", at.Add(time.Hour))
	_, err = LastRun(runs)
	g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring("name the folder of a run")))

	old := add(filepath.Join(runs, "z-old"), RecordingFile, at)
	g.Expect(LastRun(runs)).To(gomega.Equal(old))
	fresh := add(filepath.Join(runs, "experiment"), ExperimentFile, at.Add(time.Minute))
	g.Expect(LastRun(runs)).To(gomega.Equal(fresh))
	later := add(filepath.Join(runs, "experiment-2"), RecordingFile, at.Add(time.Minute))
	g.Expect(LastRun(runs)).To(gomega.Equal(later), "of two at the same time, the later name")

	g.Expect(Remember(runs, old, nil, nil)).To(gomega.Succeed())
	g.Expect(LastRun(runs)).To(gomega.Equal(old), "the remembered one")
	moved := runs + "-moved"
	g.Expect(os.Rename(runs, moved)).To(gomega.Succeed())
	g.Expect(LastRun(moved)).To(gomega.Equal(filepath.Join(moved, "z-old")))
	g.Expect(os.RemoveAll(filepath.Join(moved, "z-old"))).To(gomega.Succeed())
	g.Expect(LastRun(moved)).To(gomega.Equal(filepath.Join(moved, "experiment-2")), "a run that was deleted is not the last one")

	outside := add(t.TempDir(), RecordingFile, at)
	g.Expect(Remember(moved, outside, nil, nil)).To(gomega.Succeed())
	g.Expect(LastRun(moved)).To(gomega.Equal(outside))
}
