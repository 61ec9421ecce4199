package compare

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/stat"
)

// Builder summarizes a run trial by trial. It stores up to MaxTrials values of each measure for
// each scenario. The zero value is ready to use; it is not safe for concurrent use.
type Builder struct {
	// Run describes the run.
	Run record.Run
	// Rules are stored in the baseline; zero means DefaultRules.
	Rules Rules

	scenarios map[string]*building
}

// building collects the trials of a scenario.
type building struct {
	head     record.Scenario
	trials   Trials
	ends     []End // by trial
	first    End
	alike    bool // whether all ends so far are equal
	mixed    bool // whether statuses differ
	measures map[string]*series
	stops    string
}

// series collects one measure over the trials.
type series struct {
	stat.Moments
	unit    string
	unknown bool       // in any trial
	values  []*float64 // by trial
}

// fileHash is the stored length of the hash of a file, in hex digits.
const fileHash = 16

// omitted lists measures that another one already covers.
var omitted = []string{"cost_usd", "latency_p50", "latency_max"}

// Begin adds a scenario, even if no trial of it follows.
func (b *Builder) Begin(head record.Scenario) {
	if b.scenarios == nil {
		b.scenarios = map[string]*building{}
	}
	if b.scenarios[head.Name] == nil {
		b.scenarios[head.Name] = &building{head: head, alike: true, measures: map[string]*series{}}
	}
}

// Add adds trial n, counted from 1, of a scenario. Each trial must be added once.
func (b *Builder) Add(head record.Scenario, n int, facts *measure.Facts, findings []gate.Finding) {
	b.Begin(head)
	s := b.scenarios[head.Name]
	end := End{Verdict: gate.VerdictOf(findings), Status: strings.ToValidUTF8(facts.Run.Status, "\uFFFD"), ExitCode: facts.Run.ExitCode}
	s.trials.add(end.Verdict)
	if s.trials.Total() == 1 {
		s.first = end
	}
	s.alike = s.alike && end == s.first
	s.mixed = s.mixed || end.Status != s.first.Status
	s.ends = put(s.ends, n, end)
	if n == 1 {
		s.stops = facts.Stops.Outcomes
	}
	for m := range measure.Singles(facts) {
		if !slices.Contains(omitted, m.Name) {
			s.add(m, n)
		}
	}
}

func (s *building) add(single measure.Single, n int) {
	m := s.measures[single.Name]
	if m == nil {
		m = &series{unit: single.Unit}
		s.measures[single.Name] = m
	}
	finite := !math.IsNaN(single.Value) && !math.IsInf(single.Value, 0)
	m.unknown = m.unknown || !single.Known || !finite
	if !single.Known && !single.Bound || !finite {
		return
	}
	x := rounded(single.Value)
	m.Add(x)
	m.values = put(m.values, n, &x)
}

// put sets the value of trial n unless it exceeds the stored range.
func put[T any](list []T, n int, value T) []T {
	if n < 1 || n > MaxTrials {
		return list
	}
	if more := n - len(list); more > 0 {
		list = append(list, make([]T, more)...)
	}
	list[n-1] = value
	return list
}

// rounded keeps twelve significant digits: enough for a nanosecond in a quarter of an hour and for
// any price, and independent of the order of a sum.
func rounded(x float64) float64 {
	r, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 12, 64), 64)
	if err != nil {
		return x
	}
	return r
}

// Close returns the summary. It may be called again, also after further Adds. It fails if the
// expectations of a scenario cannot be encoded.
func (b *Builder) Close() (Baseline, error) {
	out := Baseline{Run: b.Run.ID, Tool: b.Run.Tool, Prices: b.Run.Prices, Rules: cmp.Or(b.Rules, DefaultRules())}
	for _, name := range slices.Sorted(maps.Keys(b.scenarios)) {
		s, err := b.scenarios[name].close()
		if err != nil {
			return Baseline{}, fmt.Errorf("summarize the run: %w", err)
		}
		out.Scenarios = append(out.Scenarios, s)
	}
	return out, nil
}

func (s *building) close() (Scenario, error) {
	expectations, err := expectationsOf(&s.head)
	if err != nil {
		return Scenario{}, err
	}
	s.trials.Planned = s.head.Trials
	out := Scenario{
		Name: s.head.Name, File: s.head.File, RealTime: s.head.RealTime, Verdict: s.trials.verdict(),
		Status: s.first.Status, Trials: s.trials, Expectations: expectations, Stops: s.stops, Ends: slices.Clone(s.ends),
	}
	for name, sum := range s.head.Files {
		if out.Files == nil {
			out.Files = map[string]string{}
		}
		out.Files[name] = sum[:min(len(sum), fileHash)]
	}
	if s.mixed {
		out.Status = Mixed
	}
	whole := s.trials.Total() == s.trials.Planned
	if s.alike && whole && len(out.Ends) > 1 {
		out.Ends = out.Ends[:1]
	}
	for _, name := range slices.Sorted(maps.Keys(s.measures)) {
		out.Measures = append(out.Measures, s.measures[name].close(name, s.trials.Planned))
	}
	return out, nil
}

// verdict returns the worst verdict of the trials, or error if some have no result: the judged
// trials cannot stand for the others.
func (t Trials) verdict() gate.Verdict {
	if t.Total() < t.Planned {
		return gate.Error
	}
	var present []gate.Verdict
	for _, part := range []struct {
		n       int
		verdict gate.Verdict
	}{{t.Pass, gate.Pass}, {t.Fail, gate.Fail}, {t.Error, gate.Error}, {t.Skip, gate.Skip}} {
		if part.n > 0 {
			present = append(present, part.verdict)
		}
	}
	return gate.Overall(present)
}

func (m *series) close(name string, planned int) Measure {
	out := Measure{Name: name, Unit: m.unit, Known: !m.unknown, N: m.N()}
	if m.N() == 0 {
		return out
	}
	mean := m.Mean(stat.Level)
	value := rounded(mean.Value)
	out.Value = &value
	if in := mean.Interval; in != nil && out.Known {
		in.Lo, in.Hi = rounded(in.Lo), rounded(in.Hi)
		out.Interval = in
	}
	differs := func(v *float64) bool { return v == nil || *v != value }
	if m.N() < planned || slices.ContainsFunc(m.values, differs) {
		out.Trials = slices.Clone(m.values)
	}
	return out
}
