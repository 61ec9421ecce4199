package history

import (
	"cmp"
	"slices"
	"time"

	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/stat"
)

// FlakySchema names the JSON form of Flakiness.
const FlakySchema = "rehearse.flaky/1"

// Flakiness lists the scenarios that pass and fail without a change of their content.
type Flakiness struct {
	Schema string `json:"schema"`
	// Runs and Scenarios are the numbers of runs and of scenarios that were examined.
	Runs      int     `json:"runs"`
	Scenarios int     `json:"scenarios"`
	Flaky     []Flaky `json:"flaky"`
}

// Flaky is a scenario that passes and fails.
type Flaky struct {
	Identity
	Digest string `json:"digest"`
	// Repeatable is true if the scenario runs in virtual time. Its trials should be equal, so the agent
	// itself is random.
	Repeatable bool `json:"repeatable"`
	// Runs counts the runs of this content, and Mixed those among them whose trials disagree.
	Runs  int `json:"runs"`
	Mixed int `json:"mixed"`
	// SameCommit is true if runs of the same clean commit disagree.
	SameCommit bool `json:"same_commit,omitempty"`
	// Flips counts the changes of the verdict from one run to the next.
	Flips int `json:"flips"`
	// Trials counts the trials of these runs. FailRate is the share of failed trials among the
	// passed and failed ones.
	Trials   Counts        `json:"trials"`
	FailRate measure.Value `json:"fail_rate"`
	// Verdicts has the verdict of each run, the oldest first: "pass", "fail" or "mixed".
	Verdicts []string `json:"verdicts"`
	// LastFailed is the newest run with a failed trial, and when it began.
	LastFailed string    `json:"last_failed"`
	At         time.Time `json:"at"`
}

// mixed is the verdict of a run whose trials disagree.
const mixed = "mixed"

// NewFlakiness examines the results of runs, sorted by scenario and then by age (store.Points). For
// each scenario it reads the runs of its newest content. A scenario is flaky if it has passed and
// failed, and trials of one run disagree, or runs of one clean commit do, or its verdict changed at
// least minFlips times from one run to the next: a single change, or a fix, is not flakiness. Trials
// without a verdict do not count.
func NewFlakiness(points []Point, minFlips int) Flakiness {
	f := Flakiness{Schema: FlakySchema, Flaky: []Flaky{}}
	runs := map[string]bool{}
	for len(points) > 0 {
		n := 1
		for n < len(points) && points[n].Identity == points[0].Identity {
			n++
		}
		for i := range points[:n] {
			runs[points[i].Run] = true
		}
		f.Scenarios++
		if x := flakyOf(points[:n]); x.flaky(minFlips) {
			f.Flaky = append(f.Flaky, x)
		}
		points = points[n:]
	}
	f.Runs = len(runs)
	slices.SortStableFunc(f.Flaky, func(a, b Flaky) int {
		switch {
		case a.Repeatable == b.Repeatable:
			return cmp.Compare(*b.FailRate.Value, *a.FailRate.Value)
		case a.Repeatable:
			return -1
		}
		return 1
	})
	return f
}

func (x *Flaky) flaky(minFlips int) bool {
	return x.Trials.Pass > 0 && x.Trials.Fail > 0 && (x.Certain() || x.Flips >= minFlips)
}

// Certain reports whether trials of one run, or runs of one clean commit, disagree. Otherwise the verdict changed
// from one version of the agent to the next, which may be the reason.
func (x *Flaky) Certain() bool { return x.Mixed > 0 || x.SameCommit }

// flakyOf sums up the results of one scenario, the oldest first.
func flakyOf(points []Point) Flaky {
	newest := &points[len(points)-1]
	x := Flaky{Identity: newest.Identity, Digest: newest.Digest, Repeatable: !newest.RealTime}
	commits := map[string]string{}
	for i := range points {
		p := &points[i]
		passed, failed := p.Trials.Pass > 0, p.Trials.Fail > 0
		if p.Digest != x.Digest || !passed && !failed {
			continue
		}
		x.Runs++
		x.Trials.Pass += p.Trials.Pass
		x.Trials.Fail += p.Trials.Fail
		verdict := string(gate.Pass)
		switch {
		case passed && failed:
			verdict = mixed
			x.Mixed++
		case failed:
			verdict = string(gate.Fail)
		}
		if failed {
			x.LastFailed, x.At = p.Run, p.At
		}
		if n := len(x.Verdicts); n > 0 && x.Verdicts[n-1] != verdict {
			x.Flips++
		}
		x.Verdicts = append(x.Verdicts, verdict)
		if p.Clean() {
			other, seen := commits[p.Commit]
			x.SameCommit = x.SameCommit || seen && other != verdict
			commits[p.Commit] = verdict
		}
	}
	rate := stat.Proportion(x.Trials.Fail, x.Trials.Fail+x.Trials.Pass, stat.Level)
	x.FailRate = measure.Value{Name: "fail_rate", Known: rate.N > 0, N: rate.N, Interval: rate.Interval}
	if rate.N > 0 {
		x.FailRate.Value = &rate.Value
	}
	return x
}
