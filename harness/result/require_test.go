package result_test

import (
	"testing"

	"github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/result"
)

func TestJudge(t *testing.T) {
	small := 0.01
	one := func(v result.Verdict, against string) *result.Experiment {
		return &result.Experiment{
			Design: result.Design{Alpha: 0.05, Against: against},
			Comparisons: []result.Comparison{
				{Variant: "b", Against: "a", Measure: "pass", Role: result.Primary, Verdict: v, Pairs: 4},
				{Variant: "b", Against: "a", Measure: "calls", Role: result.Secondary, Verdict: result.Worse, Pairs: 4},
			},
		}
	}
	stopped := one(result.Better, "")
	stopped.Stopped.As = result.Capped
	empty := one(result.Undecided, "")
	empty.Comparisons[0].Pairs = 0
	shown := one(result.Undecided, "")
	shown.Comparisons[0].NotWorseAdjusted = &small
	for name, row := range map[string]struct {
		of      *result.Experiment
		require string
		want    gate.Verdict
		unmet   string
	}{
		"worse than another":          {one(result.Worse, ""), "", gate.Pass, ""},
		"worse than the base":         {one(result.Worse, "a"), "", gate.Fail, ""},
		"equivalent is not better":    {one(result.Equivalent, ""), result.RequireBetter, gate.Fail, "it is not shown that b is better than a by pass"},
		"better":                      {one(result.Better, ""), result.RequireBetter, gate.Pass, ""},
		"undecided":                   {one(result.Undecided, ""), result.RequireDecided, gate.Fail, "it is undecided whether b is better than a by pass"},
		"not known to be not worse":   {one(result.Undecided, ""), result.RequireNotWorse, gate.Error, "cannot be decided: whether b is worse than a by pass; no sample size is known that would settle this"},
		"shown to be not worse":       {shown, result.RequireNotWorse, gate.Pass, ""},
		"worse, where it must not be": {one(result.Worse, ""), result.RequireNotWorse, gate.Fail, "b is worse than a by pass"},
		"stopped by a cap":            {stopped, "", gate.Error, ""},
		"nothing compared":            {empty, "", gate.Error, ""},
	} {
		g := gomega.NewWithT(t)
		verdict, unmet := row.of.Judge(row.require)
		g.Expect(verdict).To(gomega.Equal(row.want), name)
		if row.unmet != "" {
			g.Expect(unmet).To(gomega.Equal([]string{row.unmet}), name)
		}
	}
}

func TestJudgeSearch(t *testing.T) {
	g := gomega.NewWithT(t)
	g.Expect((&result.Experiment{}).JudgeSearch()).To(gomega.Equal(gate.Error))
	g.Expect((&result.Experiment{Tune: &result.Tune{}}).JudgeSearch()).To(gomega.Equal(gate.Fail))
	g.Expect((&result.Experiment{Tune: &result.Tune{Promoted: true}}).JudgeSearch()).To(gomega.Equal(gate.Pass))
}
