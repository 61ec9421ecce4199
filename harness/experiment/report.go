package experiment

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/harness/result"
)

// capped returns the result of an experiment that a cap ended, with a final analysis of all data.
func (r *run) capped() result.Experiment {
	add(&r.used, &r.end.Used)
	stopped := result.Stopped{As: result.Capped, Why: r.end.Capped}
	trials, pairs := r.cutAt()
	if pairs == 0 {
		return r.report(r.withoutLook(), stopped)
	}
	plan, look := r.decider.cut(trials)
	return r.report(r.look(plan, look, r.design.Trials), stopped)
}

// cutAt returns the number of trials of all variants in a scenario, as a mean over the scenarios,
// and the number in all of them.
func (r *run) cutAt() (trials float64, pairs int) {
	n := 0
	for s := range r.decider.scenarios {
		if r.skipped[s] != "" {
			continue
		}
		n++
		whole := math.MaxInt
		for v := range r.trials {
			whole = min(whole, len(r.trials[v][s]))
		}
		pairs += whole
	}
	return float64(pairs) / float64(max(1, n)), pairs
}

// tables returns the values of all measures in the first n trials.
func (r *run) tables(trials int) []table {
	all := make([]table, len(r.quantities))
	for i := range r.quantities {
		all[i] = r.table(r.quantities[i].Name, trials)
	}
	return all
}

// table returns the values of a measure; skipped scenarios have none.
func (r *run) table(name string, trials int) table {
	t := make(table, len(r.trials))
	for v := range r.trials {
		t[v] = make([][]float64, len(r.decider.scenarios))
		for s := range t[v] {
			if r.skipped[s] != "" {
				continue
			}
			made := r.trials[v][s]
			for _, o := range made[:min(trials, len(made))] {
				value, known := o.Values[name]
				if !known {
					value = math.NaN()
				}
				t[v][s] = append(t[v][s], value)
			}
		}
	}
	return t
}

// standard lists the measures in every variant's summary.
var standard = []string{pass, "calls", "tokens", "cost_eur", "cost_usd", "duration"}

func (r *run) report(last analysis, stopped result.Stopped) result.Experiment {
	stopped.Trials, stopped.Planned = r.made, r.planned()
	res := result.Experiment{
		Schema: result.ExperimentSchema, Tool: r.opts.Tool, Name: r.file.Name, About: r.file.About, File: r.path, Digest: r.digest,
		Prices: r.opts.Env.Prices.Date, Design: r.design, Looks: r.done, Stopped: stopped, Used: r.used,
	}
	res.Comparisons = r.decider.explain(last.comparisons, last.level, last.values)
	for i := range res.Comparisons {
		if c := &res.Comparisons[i]; c.Role == result.Primary {
			c.Shown = r.pairs(c)
		}
	}
	for s := range r.decider.scenarios {
		head := r.drivers[0][s].Head()
		res.Scenarios = append(res.Scenarios, result.Scenario{Name: head.Name, File: head.File, Agent: head.Agent, Skipped: r.skipped[s]})
	}
	for v := range r.variants {
		res.Variants = append(res.Variants, r.variant(v))
	}
	res.Pareto = front(res.Variants, r.design.Primary)
	res.Warnings = r.warnings()
	money := r.design.Primary.Unit == "EUR" || r.design.Primary.Unit == "USD"
	if money && stopped.As == result.Capped && !r.caps.Cost.IsZero() {
		res.Warnings = append(res.Warnings, "the cap on cost ended the experiment, and cost was compared: the p-values are not exact")
	}
	return res
}

func (r *run) variant(v int) result.Variant {
	is := &r.variants[v]
	out := result.Variant{Name: is.name, About: is.about, Settings: shown(is.set), Used: result.Used{CostKnown: true}}
	for _, made := range r.trials[v] {
		for _, o := range made {
			count(&out.Trials, o.Verdict)
			add(&out.Used, &o.Used)
		}
	}
	measures := append([]result.Measure{r.design.Primary}, r.design.Secondary...)
	_, units := trialMeasures()
	for _, name := range standard {
		if !slices.ContainsFunc(measures, func(m result.Measure) bool { return m.Name == name }) {
			measures = append(measures, result.Measure{Name: name, Unit: units[name], Share: name == pass})
		}
	}
	for _, m := range measures {
		out.Measures = append(out.Measures, r.summary(v, m))
	}
	return out
}

// summary returns the mean of a measure over a variant's trials, with equal weights for all
// scenarios.
func (r *run) summary(v int, m result.Measure) measure.Value {
	groups, unknown, why := make([][]float64, len(r.decider.scenarios)), 0, ""
	for s, made := range r.trials[v] {
		if r.skipped[s] != "" {
			continue
		}
		for _, o := range made {
			if value, known := o.Values[m.Name]; known {
				groups[s] = append(groups[s], value)
				continue
			}
			unknown++
			why = cmp.Or(why, o.Unknown[m.Name], o.Why)
		}
	}
	value := r.decider.level(m, groups)
	if unknown > 0 {
		value.Known, value.Interval = false, nil
		value.Warnings = append(value.Warnings, fmt.Sprintf("unknown in %d trials: %s", unknown, why))
	}
	return value
}

func count(t *result.Trials, verdict gate.Verdict) {
	switch verdict {
	case gate.Pass:
		t.Pass++
	case gate.Fail:
		t.Fail++
	case gate.Skip:
		t.Skip++
	default:
		t.Error++
	}
}

// warnings returns the warnings about the experiment as a whole.
func (r *run) warnings() []string {
	var all []string
	failed, why := 0, ""
	for v := range r.trials {
		for _, made := range r.trials[v] {
			for _, o := range made {
				if o.Verdict == gate.Error {
					failed++
					why = cmp.Or(why, o.Why)
				}
			}
		}
	}
	if failed > 0 {
		all = append(all, fmt.Sprintf("%d of %d trials could not be judged; the first: %s", failed, r.made, why))
	}
	for s, why := range r.skipped {
		if why != "" {
			all = append(all, fmt.Sprintf("%s was skipped: %s", r.decider.scenarios[s], why))
		}
	}
	if r.design.Scope == result.These {
		all = append(all, "the verdicts are about these scenarios; others may differ (scope: these)")
	}
	return all
}

// front places the variants in the plane of cost and quality.
func front(variants []result.Variant, primary result.Measure) []result.Point {
	better := primary.Better
	quality := primary.Name
	if quality == "cost_eur" || quality == "cost_usd" {
		quality, better = pass, result.Higher
	}
	var all []result.Point
	for i := range variants {
		v := &variants[i]
		cost, costKnown := find(v.Measures, "cost_eur")
		q, qualityKnown := find(v.Measures, quality)
		if costKnown && qualityKnown {
			all = append(all, result.Point{Variant: v.Name, Cost: cost, Quality: q, Better: better})
		}
	}
	for i := range all {
		for j := range all {
			if dominates(&all[j], &all[i]) {
				all[i].Dominated = append(all[i].Dominated, all[j].Variant)
			}
		}
	}
	return all
}

// find returns a known measure.
func find(all []measure.Value, name string) (measure.Value, bool) {
	i := slices.IndexFunc(all, func(v measure.Value) bool { return v.Name == name })
	if i < 0 || !all[i].Known || all[i].Value == nil {
		return measure.Value{}, false
	}
	return all[i], true
}

// dominates reports whether a is at least as good as b at no more cost, and better in one of the
// two.
func dominates(a, b *result.Point) bool {
	gain := *a.Quality.Value - *b.Quality.Value
	if a.Better == result.Lower {
		gain = -gain
	}
	saved := *b.Cost.Value - *a.Cost.Value
	return gain >= 0 && saved >= 0 && (gain > 0 || saved > 0)
}
