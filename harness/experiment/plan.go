package experiment

import (
	"fmt"
	"math"

	"github.com/rehearse-dev/rehearse/harness/result"
	"github.com/rehearse-dev/rehearse/stat"
)

// Plan describes what an experiment would do.
type Plan struct {
	Name   string
	About  string
	File   string
	Digest string
	Design result.Design
	// Variants have names and settings only. Scenarios are the driven scenarios, sorted by name.
	Variants  []result.Variant
	Scenarios []result.Scenario
	// Live names the variants that call live models, or have live judges.
	Live []string
	// Comparisons is the number of comparisons by the primary measure.
	Comparisons int
	// Trials is the maximal number of trials over all variants and scenarios.
	Trials int
	// Needed is the number of trials of each variant in each scenario that finds the smallest
	// effect of interest with the planned power, in the worst case for a share; 0 if that depends
	// on the data. Why explains it.
	Needed int
	Why    string
	// Search is "greedy" or "halving" if Tune can search for a better text, SearchTrials the
	// number of additional trials on the Training scenarios.
	Search       string
	SearchTrials int
	Training     []string
}

// Plan returns what Run would do, without driving anything.
func (e *Experiment) Plan() Plan {
	p := Plan{Name: e.file.Name, About: e.file.About, File: e.path, Digest: e.digest, Design: e.design}
	for i := range e.variants {
		v := &e.variants[i]
		p.Variants = append(p.Variants, result.Variant{Name: v.name, About: v.about, Settings: shown(v.set)})
		if v.live() {
			p.Live = append(p.Live, v.name)
		}
	}
	for _, sc := range e.variants[0].scenarios {
		p.Scenarios = append(p.Scenarios, result.Scenario{Name: sc.Name, File: sc.File})
	}
	n := len(e.variants)
	if e.search != nil && n == 1 {
		n = 2 // the base and the result of the search
	}
	p.Comparisons = n * (n - 1) / 2
	if e.design.Against != "" {
		p.Comparisons = n - 1
	}
	p.Trials = e.design.Trials * n * len(p.Scenarios)
	p.Needed, p.Why = e.needed(p.Comparisons, len(p.Scenarios))
	if s := e.search; s != nil {
		p.Search, p.Training = s.kind, e.training
		p.SearchTrials = s.planned() * len(e.training)
	}
	return p
}

// planned returns the number of trials of a search in each training scenario.
func (s *search) planned() int {
	n := 0
	if s.kind == greedy {
		for i := range s.fragments {
			n += len(s.around(make(choice, len(s.fragments)), i)) * s.trials
		}
		return n
	}
	for left, trials := len(s.all()), s.trials; left > 1; left, trials = (left+1)/2, 2*trials {
		n += left * trials
	}
	return n
}

// needed computes Plan.Needed. Holm's correction begins at alpha divided by the number of
// comparisons, which is the level that a single one can count on; interim looks need more trials.
// The difference of two independent shares has a variance of p(1-p) + q(1-q), at most 1/2.
func (e *Experiment) needed(comparisons, scenarios int) (trials int, why string) {
	m := e.design.Primary
	switch {
	case m.Smallest == 0:
		return 0, "the primary measure has no smallest effect of interest"
	case e.design.Scope == result.Alike:
		return 0, "the variation between scenarios is unknown until there are data"
	case !m.Share:
		return 0, fmt.Sprintf("the variation of %s is unknown until there are data", m.Name)
	case comparisons == 0:
		return 0, "nothing is compared yet"
	}
	alpha := e.design.Alpha / float64(comparisons)
	pairs := float64(stat.ShareNeeded(m.Smallest, math.Sqrt(0.5), alpha, e.design.Power))
	if e.design.Looks > 1 {
		pairs *= newDecider(e.design, nil, nil).planned.Inflation(alpha, e.design.Power)
	}
	return int(math.Ceil(pairs / float64(scenarios))), "the worst case of a share, where half of the trials pass"
}
