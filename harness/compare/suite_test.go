package compare_test

import (
	"fmt"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness/compare"
	"github.com/rehearse-dev/rehearse/harness/gate"
)

func TestCompare(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "harness/compare")
}

// measured returns a measure with the values of trials 1, 2, ...
func measured(name, unit string, values ...float64) compare.Measure {
	m := compare.Measure{Name: name, Unit: unit, Known: true, N: len(values)}
	sum, alike := 0.0, true
	for i := range values {
		m.Trials = append(m.Trials, &values[i])
		sum += values[i]
		alike = alike && values[i] == values[0]
	}
	mean := sum / float64(len(values))
	m.Value = &mean
	if alike {
		m.Value, m.Trials = &values[0], nil
	}
	return m
}

// unknown returns an unknown measure.
func unknown(name, unit string) compare.Measure { return compare.Measure{Name: name, Unit: unit} }

// bound returns a measure with a lower bound only.
func bound(name, unit string, values ...float64) compare.Measure {
	m := measured(name, unit, values...)
	m.Known = false
	return m
}

// passed returns a scenario in virtual time with n passed trials.
func passed(name string, n int, measures ...compare.Measure) compare.Scenario {
	return compare.Scenario{
		Name: name, Verdict: gate.Pass, Status: "done", Trials: compare.Trials{Planned: n, Pass: n},
		Ends:         []compare.End{{Verdict: gate.Pass, Status: "done"}},
		Expectations: map[string]string{"digest": "sha256:1", "seed": "7", "clock": "virtual", "expect.calls": "at most 9"},
		Measures:     measures,
	}
}

// real is like passed, in real time.
func real(name string, n int, measures ...compare.Measure) compare.Scenario {
	s := passed(name, n, measures...)
	s.RealTime, s.Expectations["clock"] = true, "real"
	return s
}

// judged sets the numbers of passed and failed trials of a scenario.
func judged(s compare.Scenario, pass, fail int) compare.Scenario {
	s.Trials = compare.Trials{Planned: pass + fail, Pass: pass, Fail: fail}
	s.Ends = nil
	for i := range pass + fail {
		if i < pass {
			s.Ends = append(s.Ends, compare.End{Verdict: gate.Pass, Status: "done"})
		} else {
			s.Ends = append(s.Ends, compare.End{Verdict: gate.Fail, Status: "timeout", ExitCode: 1})
		}
	}
	return s
}

func run(scenarios ...compare.Scenario) compare.Baseline {
	return compare.Baseline{Run: "run", Tool: "rehearse 1", Prices: "2026-11-01", Scenarios: scenarios}
}

// one compares one scenario.
func one(before, after compare.Scenario) compare.Result {
	return compare.Compare(run(before), run(after), compare.Options{})
}

// of returns the comparison of a measure, which must exist.
func of(r compare.Result, name string) compare.Comparison {
	GinkgoHelper()
	for _, c := range r.Comparisons {
		if c.Measure == name {
			return c
		}
	}
	Fail(fmt.Sprintf("no comparison of %s in %+v", name, r))
	return compare.Comparison{}
}

// rules returns the rules of all findings except notes.
func rules(r compare.Result) (list []string) {
	for _, f := range r.Findings {
		if f.Severity != gate.Info {
			list = append(list, f.Rule)
		}
	}
	return list
}
