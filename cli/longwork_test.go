package cli

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness/experiment"
	"github.com/rehearse-dev/rehearse/harness/explore"
	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/result"
	"github.com/rehearse-dev/rehearse/internal/console"
)

// workLog is what long work prints in a log, with a clock that the test sets.
type workLog struct {
	bytes.Buffer
	now time.Time
}

func newWorkLog() *workLog { return &workLog{now: time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)} }

func (l *workLog) start(detail detailFlags) *longWork {
	return newLongWork(l, console.Terminal{}, func() time.Time { return l.now }, detail)
}

// explored drives an exploration of 30 runs and at most 24 more, of a second each.
func explored(l *workLog, e *exploring, realTime bool) {
	e.update(explore.Progress{Doing: "golden path", Planned: 1})
	l.now = l.now.Add(time.Second)
	e.update(explore.Progress{Doing: "plan", Forecast: explore.Forecast{Runs: 30, Later: 24, RealTime: realTime, Wait: 10 * time.Second}})
	for n := 1; n <= 30; n++ {
		l.now = l.now.Add(time.Second)
		cell := &result.Cell{Outcome: result.Survived, Perturb: []string{"call=1:timeout"}}
		if n == 2 {
			cell.Outcome = result.Failed
		}
		e.update(explore.Progress{Doing: "perturbations", Done: n, Planned: 30, Cell: cell})
	}
	l.now = l.now.Add(10 * time.Second)
	e.update(explore.Progress{Doing: "shrinking", Done: 1, Planned: 2})
}

func TestExplorationProgress(t *testing.T) {
	g := gomega.NewWithT(t)
	const log = `9/30 runs, 1 failed, 9s, about 21s left
19/30 runs, 1 failed, 19s, about 11s left
29/30 runs, 1 failed, 29s, about 1s left
shrinking 1/2 failures, 1 failed, 40s
`
	const advice = "; --family, --pairs and --max-runs make it shorter\n"
	l := newWorkLog()
	explored(l, newExploring(l.start(detailFlags{}), 2), true)
	g.Expect(l.String()).To(gomega.Equal("30 to 54 runs, about 32s"+advice+log), "54 runs of 1s and 10s of waits, on 2 workers")

	l = newWorkLog()
	explored(l, newExploring(l.start(detailFlags{}), 2), false)
	g.Expect(l.String()).To(gomega.Equal("30 to 54 runs, about 54s"+advice+log), "measured in the first second")

	l = newWorkLog()
	explored(l, newExploring(l.start(detailFlags{quiet: true}), 2), true)
	g.Expect(l.String()).To(gomega.BeEmpty())

	l = newWorkLog()
	explored(l, newExploring(l.start(detailFlags{verbose: true}), 2), true)
	g.Expect(l.String()).To(gomega.ContainSubstring(advice + "survived  call=1:timeout\nfailed    call=1:timeout\n"))
	g.Expect(strings.Count(l.String(), "call=1:timeout")).To(gomega.Equal(30))

	l = newWorkLog()
	e := newExploring(l.start(detailFlags{}), 2)
	e.update(explore.Progress{Doing: "plan", Forecast: explore.Forecast{Runs: 3, RealTime: true, Wait: time.Second}})
	g.Expect(l.String()).To(gomega.BeEmpty(), "short work needs no announcement")
}

// tuned reports a search of 6 trials and the 4 that confirm it; half of them are from a journal.
func tuned(l *workLog, e *experimenting) {
	for _, round := range []struct {
		doing           string
		resumed, trials int
	}{{"round 1", 5, 6}, {"held out", 0, 4}} {
		for n := round.resumed + 1; n <= round.trials; n++ {
			l.now = l.now.Add(4 * time.Second)
			e.update(experiment.Progress{
				Doing: round.doing, Trials: n, Planned: round.trials, Resumed: round.resumed,
				Trial: experiment.Trial{Variant: "short", Scenario: "loop/a", N: n, Verdict: gate.Pass},
			})
		}
	}
}

func TestExperimentProgress(t *testing.T) {
	g := gomega.NewWithT(t)
	l := newWorkLog()
	plan := experiment.Plan{Trials: 4, SearchTrials: 6}
	tuned(l, newExperimenting(l.start(detailFlags{}), plan, true))
	g.Expect(l.String()).To(gomega.Equal(`up to 10 trials, about 20s; --plan shows what they are for
held out: 2/4, 0 calls, 12s
`), "5 of the 10 trials are left, and each takes 4s")
	l = newWorkLog()
	tuned(l, newExperimenting(l.start(detailFlags{verbose: true}), plan, true))
	g.Expect(l.String()).To(gomega.ContainSubstring("pass  loop/a  short, trial 3\n"))
}
