package history

import (
	"slices"
	"time"

	"github.com/rehearse-dev/rehearse/harness/compare"
	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/stat"
)

// TrendSchema names the JSON form of a Trend.
const TrendSchema = "rehearse.trend/1"

// Alpha is the probability of a false alarm of the test for changes: for each measure, in a stretch
// of runs without a change.
const Alpha = 0.01

// PassRate is the name of an additional measure of trends: the share of passed trials among the
// passed and failed ones.
const PassRate = "pass_rate"

// DefaultMeasures are the measures of a trend unless others are asked for.
func DefaultMeasures() []string {
	return []string{PassRate, "calls", "tokens", "cost_eur", "latency_p95", "duration"}
}

// Trend is the development of a scenario over runs.
type Trend struct {
	Schema string `json:"schema"`
	Identity
	// Runs are sorted by age, the oldest first.
	Runs []TrendRun `json:"runs"`
	// Breaks are the runs with which the content of the scenario changed. Values on both sides of
	// a break are never summed up or compared.
	Breaks []Break  `json:"breaks"`
	Series []Series `json:"measures"`
	// Renamed are names under which the scenario may have been run before.
	Renamed []Identity `json:"renamed_from,omitempty"`
}

// TrendRun is the result of the scenario in one run.
type TrendRun struct {
	ID string    `json:"id"`
	At time.Time `json:"at"`
	// Scenario is the name at that time, if it was another one.
	Scenario string `json:"scenario,omitempty"`
	Origin
	Digest  string       `json:"digest"`
	Verdict gate.Verdict `json:"verdict"`
	Trials  Counts       `json:"trials"`
}

// Break is a run that cannot be compared with those before it.
type Break struct {
	// Index is the index of the run in Trend.Runs, and Run its id.
	Index int    `json:"index"`
	Run   string `json:"run"`
	// Why is "content" if the files of the scenario changed, and "prices" if the price table did,
	// which breaks the trend of costs only.
	Why string `json:"why"`
}

// The reasons of breaks.
const (
	ContentBreak = "content"
	PricesBreak  = "prices"
)

// Rule is the way in which a change was found.
type Rule string

// The rules.
const (
	// Exact reports each difference: the scenario runs in virtual time, and its values repeat.
	Exact Rule = "exact"
	// Tested reports differences that stat.ChangePoints finds at Alpha.
	Tested Rule = "test"
)

// Series is one measure over the runs of a trend.
type Series struct {
	Name string `json:"name"`
	Unit string `json:"unit,omitempty"`
	// Values has an element for each run.
	Values []Value `json:"values"`
	// Changes are sorted by their index.
	Changes []Change `json:"changes"`
}

// Value is a measure in one run: the mean over the trials with its confidence interval.
type Value struct {
	// Value is nil if it is unknown, or if the scenario was not judged.
	Value *float64 `json:"value"`
	Lo    *float64 `json:"lo,omitempty"`
	Hi    *float64 `json:"hi,omitempty"`
	N     int      `json:"n"`
}

// Change is a change of level.
type Change struct {
	// Index is the index in Trend.Runs of the first run after the change. Run is its id, and Commit its
	// commit.
	Index  int    `json:"index"`
	Run    string `json:"run"`
	Commit string `json:"commit,omitempty"`
	// Before and After are the means over the runs up to the next change or break on each side, and
	// Relative is After/Before - 1; nil if Before is 0.
	Before   float64  `json:"before"`
	After    float64  `json:"after"`
	Relative *float64 `json:"relative,omitempty"`
	Worse    bool     `json:"worse"`
	Rule     Rule     `json:"rule"`
	// P is the p-value of a tested change.
	P float64 `json:"p,omitempty"`
}

// NewTrend derives the trend of the named measures, or of DefaultMeasures, from the results of a
// scenario, the oldest first. Measures without any value are left out, unless they were named.
func NewTrend(of Identity, points []Point, measures []string) Trend {
	t := Trend{Schema: TrendSchema, Identity: of, Runs: make([]TrendRun, len(points)), Breaks: []Break{}, Series: []Series{}}
	for i := range points {
		p := &points[i]
		t.Runs[i] = TrendRun{
			ID: p.Run, At: p.At, Origin: p.Origin, Digest: p.Digest, Verdict: p.Verdict, Trials: p.Trials,
		}
		if p.Scenario != of.Scenario {
			t.Runs[i].Scenario = p.Scenario
		}
		switch {
		case i == 0:
		case p.Digest != points[i-1].Digest:
			t.Breaks = append(t.Breaks, Break{i, p.Run, ContentBreak})
		case p.Prices != points[i-1].Prices:
			t.Breaks = append(t.Breaks, Break{i, p.Run, PricesBreak})
		}
	}
	named := len(measures) > 0
	if !named {
		measures = DefaultMeasures()
	}
	for _, name := range measures {
		if s, any := newSeries(name, points); any || named {
			t.Series = append(t.Series, s)
		}
	}
	return t
}

func newSeries(name string, points []Point) (s Series, any bool) {
	s = Series{Name: name, Values: make([]Value, len(points)), Changes: []Change{}}
	values := make([]PointMeasure, len(points))
	for i := range points {
		m := measureOf(&points[i], name)
		values[i] = m
		s.Values[i].N = m.N
		if !usable(&points[i], &m) {
			continue
		}
		any, s.Unit, s.Values[i].Value = true, m.Unit, m.Value
		if m.Interval != nil {
			s.Values[i].Lo, s.Values[i].Hi = &m.Interval.Lo, &m.Interval.Hi
		}
	}
	from := 0
	for i := 1; i <= len(points); i++ {
		if i == len(points) || broken(&points[i-1], &points[i], s.Unit) {
			s.Changes = append(s.Changes, changes(points[from:i], values[from:i], from, name == PassRate)...)
			from = i
		}
	}
	return s, any
}

// measureOf returns a measure of a point. A missing measure is unknown.
func measureOf(p *Point, name string) PointMeasure {
	if name == PassRate {
		rate := stat.Proportion(p.Trials.Pass, p.Trials.Pass+p.Trials.Fail, stat.Level)
		m := PointMeasure{Measure: compare.Measure{Name: name, N: rate.N, Interval: rate.Interval}, Alike: p.Trials.Pass == 0 || p.Trials.Fail == 0}
		if rate.N > 0 {
			m.Known, m.Value = true, &rate.Value
		}
		return m
	}
	i := slices.IndexFunc(p.Measures, func(m PointMeasure) bool { return m.Name == name })
	if i < 0 {
		return PointMeasure{}
	}
	return p.Measures[i]
}

// usable reports whether a value counts. The value of a scenario without a verdict is not
// representative of the agent.
func usable(p *Point, m *PointMeasure) bool {
	return m.Known && m.Value != nil && (p.Verdict == gate.Pass || p.Verdict == gate.Fail)
}

// broken reports whether two successive points cannot be compared.
func broken(a, b *Point, unit string) bool {
	return a.Digest != b.Digest || (unit == "EUR" || unit == "USD") && a.Prices != b.Prices
}

// changes returns the changes in a stretch without breaks that begins at the index from.
func changes(points []Point, values []PointMeasure, from int, moreIsBetter bool) []Change {
	var at []int // of the usable points
	var x []float64
	for i := range points {
		if usable(&points[i], &values[i]) {
			at, x = append(at, i), append(x, *values[i].Value)
		}
	}
	rule := Exact
	var found []stat.Change
	if repeats(points, values, at) {
		for i := 1; i < len(x); i++ {
			if x[i] != x[i-1] {
				found = append(found, stat.Change{At: i})
			}
		}
	} else {
		rule = Tested
		found = stat.ChangePoints{Alpha: Alpha, Seed: 1}.Find(x)
	}
	list := make([]Change, len(found))
	for i, c := range found {
		first, next := 0, len(x)
		if i > 0 {
			first = found[i-1].At
		}
		if i+1 < len(found) {
			next = found[i+1].At
		}
		p := &points[at[c.At]]
		list[i] = Change{
			Index: from + at[c.At], Run: p.Run, Commit: p.Commit, Rule: rule, P: c.P,
			Before: stat.Mean(x[first:c.At]), After: stat.Mean(x[c.At:next]),
		}
		if before := list[i].Before; before != 0 {
			list[i].Relative = new(list[i].After/before - 1)
		}
		list[i].Worse = (list[i].After > list[i].Before) != moreIsBetter
	}
	return list
}

// repeats reports whether the values of a stretch depend only on the agent's code: time is virtual, the
// trials of each run and the runs of each commit are alike, and values change rarely (at most once in
// four runs). Each difference is then a change of the code.
func repeats(points []Point, values []PointMeasure, at []int) bool {
	differences := 0
	commits := map[string]float64{}
	for i, k := range at {
		p, x := &points[k], *values[k].Value
		if p.RealTime || !values[k].Alike {
			return false
		}
		if i > 0 && x != *values[at[i-1]].Value {
			differences++
		}
		if !p.Clean() {
			continue
		}
		if other, seen := commits[p.Commit]; seen && other != x {
			return false
		}
		commits[p.Commit] = x
	}
	return differences <= max(1, len(at)/4)
}
