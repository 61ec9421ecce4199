package reports_test

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"time"
	"unicode/utf8"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/kinds"
	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/scenarios/expect"
)

func scenario(name string, trials int) record.Scenario {
	return record.Scenario{
		Name: name, File: name + ".yaml", Digest: "sha256:01", About: "About " + name + ".", Proves: []string{"L-01"},
		Tags: []string{"golden"}, Seed: 7, Trials: trials, Agent: "loop", Backend: "openai", Model: "gpt-4.1-mini",
	}
}

// facts are those of a trial with calls of the given latencies, in seconds.
func facts(status string, latencies ...float64) measure.Facts {
	f := measure.Facts{
		Run:     measure.RunFacts{Status: status, Iterations: len(latencies), Duration: 2, DurationKnown: true},
		Calls:   measure.CallFacts{Total: len(latencies), Failed: 1, Retries: 3},
		Tokens:  measure.TokenFacts{Known: true, Input: 10, Cached: 5, Output: 20, Total: 35},
		Cost:    measure.CostFacts{Known: true, EUR: 0.01, USD: 0.011},
		Latency: measure.LatencyFacts{N: len(latencies), All: latencies},
	}
	for _, v := range latencies {
		f.Latency.Mean += v / float64(len(latencies))
		f.Latency.Max = max(f.Latency.Max, v)
	}
	f.Latency.P50, f.Latency.P95 = f.Latency.Max/2, f.Latency.Max
	return f
}

func failing(rule string) []gate.Finding {
	return []gate.Finding{{Severity: gate.Failing, Rule: rule, Message: "expected 1, got 2"}}
}

func measured(list []measure.Value, name string) measure.Value {
	GinkgoHelper()
	for _, m := range list {
		if m.Name == name {
			return m
		}
	}
	Fail("no measure " + name)
	return measure.Value{}
}

var _ = Describe("the builder", Label("H-04", "H-05"), func() {
	var b *reports.Builder
	BeforeEach(func() {
		b = &reports.Builder{Extensions: kinds.Language().Extensions(), Run: record.Run{ID: "r", Tool: "t", Prices: "2026-11-01"}}
	})

	It("groups trials by scenario, sorts by name and counts verdicts", func() {
		b.Add(scenario("b", 3), facts("done", 1), nil)
		b.Add(scenario("b", 3), facts("timeout", 1), failing("status"))
		b.Add(scenario("b", 3), facts("done", 1), []gate.Finding{{Severity: gate.Info, Rule: "note"}})
		b.Add(scenario("a", 1), facts("done", 1), nil)
		r := b.Close()
		Expect(r.Scenarios).To(HaveLen(2))
		Expect(r.Scenarios[0].Name).To(Equal("a"))
		Expect(r.Scenarios[0].Status).To(Equal("done"))
		Expect(r.Scenarios[1].Status).To(Equal("mixed"))
		Expect(r.Scenarios[1].Verdict).To(Equal(gate.Fail))
		Expect(r.Scenarios[1].Trials).To(Equal(reports.Count{Pass: 2, Fail: 1}))
		Expect(r.Totals.Scenarios).To(Equal(reports.Count{Pass: 1, Fail: 1}))
		Expect(r.Totals.Trials).To(Equal(reports.Count{Pass: 3, Fail: 1}))
		Expect(r.Verdict).To(Equal(gate.Fail))
		Expect(r.Run).To(Equal(reports.Run{ID: "r", Tool: "t", Prices: "2026-11-01"}))
	})
	It("numbers the findings by trial", func() {
		b.Add(scenario("a", 2), facts("done"), nil)
		b.Add(scenario("a", 2), facts("done"), failing("calls"))
		Expect(b.Close().Scenarios[0].Findings).To(HaveExactElements(HaveField("Trial", 2)))
	})
	It("can be closed again, and added to in between", func() {
		b.Add(scenario("a", 2), facts("done", 1), nil)
		first := b.Close()
		Expect(b.Close()).To(Equal(first))
		b.Add(scenario("a", 2), facts("done", 3), nil)
		Expect(b.Close().Totals.Trials.Pass).To(Equal(2))
		Expect(first.Totals.Trials.Pass).To(Equal(1))
	})
	It("gives means over trials with their interval and sums over all", func() {
		b.Add(scenario("a", 2), facts("done", 1), nil)
		b.Add(scenario("a", 2), facts("done", 1, 2, 3), nil)
		r := b.Close()
		calls := measured(r.Scenarios[0].Measures, "calls")
		Expect(*calls.Value).To(Equal(2.0))
		Expect(calls.N).To(Equal(2))
		// mean 2, s = √2, t(1) = 12.706: 2 ± 12.706
		Expect(calls.Interval.Lo).To(BeNumerically("~", -10.706, 0.001))
		Expect(calls.Interval.Hi).To(BeNumerically("~", 14.706, 0.001))
		Expect(*measured(r.Totals.Measures, "calls").Value).To(Equal(4.0))
		Expect(*measured(r.Totals.Measures, "tokens").Value).To(Equal(70.0))
		Expect(*measured(r.Totals.Measures, "duration").Value).To(Equal(4.0))
		Expect(*measured(r.Totals.Measures, "latency_max").Value).To(Equal(3.0))
		Expect(*measured(r.Totals.Measures, "latency_mean").Value).To(Equal(1.75))
	})
	It("gives the pass rate Wilson's interval, and errors no weight", func() {
		for range 8 {
			b.Add(scenario("a", 11), facts("done"), nil)
		}
		for range 2 {
			b.Add(scenario("a", 11), facts("done"), failing("x"))
		}
		b.Add(scenario("a", 11), facts("done"), []gate.Finding{{Severity: gate.Broken}})
		rate := b.Close().Scenarios[0].PassRate
		Expect(*rate.Value).To(Equal(0.8))
		Expect(rate.N).To(Equal(10))
		Expect(rate.Interval.Lo).To(BeNumerically("~", 0.4902, 0.0001)) // 8 of 10, 95 %
		Expect(rate.Interval.Hi).To(BeNumerically("~", 0.9433, 0.0001))
	})
	It("never turns an unknown value into 0", func() {
		f := facts("done", 1)
		f.Cost, f.Tokens.Known, f.Run.DurationKnown, f.Latency = measure.CostFacts{Why: "no price"}, false, false, measure.LatencyFacts{}
		b.Add(scenario("unknown", 1), f, nil)
		b.Add(scenario("no-calls", 1), facts("done"), nil)
		r := b.Close()
		for _, name := range []string{"cost_eur", "cost_usd", "tokens", "latency_p95"} {
			Expect(reports.Text(measured(r.Scenarios[1].Measures, name))).To(Equal("unknown"), name)
			Expect(reports.Text(measured(r.Totals.Measures, name))).To(Equal("unknown"), name)
		}
		Expect(measured(r.Scenarios[1].Measures, "cost_eur").Value).To(BeNil())
		Expect(*measured(r.Totals.Measures, "cost_eur").Value).To(Equal(0.01), "a lower bound is kept")
		Expect(reports.Text(measured(r.Scenarios[0].Measures, "latency_p95"))).To(Equal("n/a"))
	})
	It("does not judge a scenario with missing trials", func() {
		b.Add(scenario("a", 3), facts("done"), nil)
		s := b.Close().Scenarios[0]
		Expect(s.Verdict).To(Equal(gate.Error))
		Expect(s.Findings).To(ContainElement(HaveField("Message", "2 of 3 trials have no result")))
	})
	It("keeps the first findings and counts the others", func() {
		for range 30 {
			b.Add(scenario("a", 30), facts("done"), failing("x"))
		}
		s := b.Close().Scenarios[0]
		Expect(s.Findings).To(HaveLen(20))
		Expect(s.MoreFindings).To(Equal(10))
		Expect(s.Findings[19].Trial).To(Equal(20))
	})
	It("keeps the texts of findings short and valid", func() {
		long := strings.Repeat("日本語\xff", 5000)
		b.Add(scenario("a", 1), facts("done"), []gate.Finding{{Severity: gate.Failing, Rule: "x", Message: long, Evidence: long}})
		f := b.Close().Scenarios[0].Findings[0]
		Expect(len(f.Message)).To(BeNumerically("<", 12<<10))
		Expect(utf8.ValidString(f.Message)).To(BeTrue())
	})
	It("bounds problems, and turns to error by one", func() {
		b.Add(scenario("a", 1), facts("done"), nil)
		Expect(b.Close().Verdict).To(Equal(gate.Pass))
		for i := range 150 {
			b.Problem(fmt.Sprint("problem ", i))
		}
		r := b.Close()
		Expect(r.Verdict).To(Equal(gate.Error))
		Expect(r.Problems).To(HaveLen(101))
		Expect(r.Problems[100]).To(Equal("and 50 more problems"))
	})
	It("passes nothing when nothing was run", func() {
		Expect(b.Close().Verdict).To(Equal(gate.Skip))
	})

	It("is as large for 100,000 trials as for 1,000", func() {
		size := func(trials int) uint64 {
			b := &reports.Builder{Extensions: kinds.Language().Extensions()}
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			head := scenario("a", trials)
			for i := range trials {
				b.Add(head, facts("done", float64(i%997)/100), failing("x"))
			}
			runtime.GC()
			runtime.ReadMemStats(&after)
			Expect(b.Close().Totals.Trials.Fail).To(Equal(trials))
			return after.HeapAlloc - min(before.HeapAlloc, after.HeapAlloc)
		}
		Expect(size(100_000)).To(BeNumerically("<", size(1000)+256<<10))
	})
})

// recorded writes a recording of the scenarios; edit, if not nil, changes its lines.
func recorded(run record.Run, end record.Close, scenarios []record.Scenario, trial func(record.Scenario, int) record.Trial) *bytes.Buffer {
	GinkgoHelper()
	var out bytes.Buffer
	w, err := record.NewWriter(&out, run)
	Expect(err).NotTo(HaveOccurred())
	for _, s := range scenarios {
		Expect(w.Scenario(s)).To(Succeed())
		for n := range s.Trials {
			lines, err := record.Encode(trial(s, n+1))
			Expect(err).NotTo(HaveOccurred())
			Expect(w.Trial(lines)).To(Succeed())
		}
	}
	Expect(w.Close(end)).To(Succeed())
	return &out
}

// trialOf ends in a status and after a time that depend on its number.
func trialOf(s record.Scenario, n int) record.Trial {
	return record.Trial{
		Head:     record.TrialHead{Scenario: s.Name, N: n, Seed: s.Seed},
		Messages: []record.Message{{ID: "m1", Message: llm.Message{Role: llm.User, Content: "hi"}}},
		Calls:    []record.Call{{N: 1, Backend: "openai", Messages: []string{"m1"}, Latency: time.Duration(n) * time.Second}},
		End:      record.End{Status: []string{"done", "timeout"}[n%2], ExitCode: n % 2, Details: "\x1b", Duration: time.Duration(n) * time.Minute},
	}
}

// expecting gives a scenario expectations that every other trial of trialOf fails.
func expecting(s record.Scenario) record.Scenario {
	s.Expect = expect.Expect{Status: "timeout", That: []string{`calls.total == 1`}}
	return s
}

var _ = Describe("a report from a recording", Label("H-05"), func() {
	run := record.Run{ID: "r", Tool: "rehearse 0.1.0", Prices: "2026-11-01", Scenarios: 3, Trials: 8, Labels: map[string]string{"a": "b"}}
	end := record.Close{Trials: 7, Interrupted: true, NotRun: []string{"z"}}
	heads := []record.Scenario{expecting(scenario("loop/b", 5)), expecting(scenario("loop/a", 2))}

	It("is that of the run", func() {
		live := &reports.Builder{Extensions: kinds.Language().Extensions(), Run: run, Interrupted: true, NotRun: []string{"z"}}
		for _, s := range heads {
			judge, err := gate.NewJudge(kinds.Language(), s.Expect)
			Expect(err).NotTo(HaveOccurred())
			for n := range s.Trials {
				f := measure.Trial(s, trialOf(s, n+1), nil, kinds.Language().Extensions())
				live.Add(s, f, judge.Judge(f))
			}
		}
		later, err := reports.FromRecording(recorded(run, end, heads, trialOf), kinds.Language().Extensions(), reports.Rejudge(kinds.Language(), nil))
		Expect(err).NotTo(HaveOccurred())
		Expect(later.Close()).To(Equal(live.Close()))
		Expect(later.Close().Problems).To(BeEmpty())
		Expect(later.Close().Verdict).To(Equal(gate.Fail))
	})
	It("reports the content of a torn recording, and that it is torn", func() {
		whole := recorded(run, end, heads, trialOf).String()
		torn := whole[:len(whole)*2/3]
		b, err := reports.FromRecording(strings.NewReader(torn), kinds.Language().Extensions(), reports.Rejudge(kinds.Language(), nil))
		Expect(err).NotTo(HaveOccurred())
		r := b.Close()
		Expect(r.Verdict).To(Equal(gate.Error))
		Expect(r.Problems).To(ContainElement(ContainSubstring("torn")))
		Expect(r.Scenarios).To(HaveLen(1))
		Expect(r.Totals.Trials.Total()).To(BeNumerically(">", 2))
	})
	It("counts no trial twice and no scenario twice", func() {
		twice := func(s record.Scenario, n int) record.Trial { return trialOf(s, min(n, 3)) }
		b, err := reports.FromRecording(recorded(run, end, append(heads, heads[0]), twice), kinds.Language().Extensions(), reports.Rejudge(kinds.Language(), nil))
		Expect(err).NotTo(HaveOccurred())
		r := b.Close()
		Expect(r.Scenarios[1].Trials.Total()).To(Equal(3))
		Expect(r.Scenarios[1].Verdict).To(Equal(gate.Error))
		Expect(r.Problems).To(ContainElement(ContainSubstring(`trial 3 of "loop/b" does not follow trial 3 of 5`)))
		Expect(r.Problems).To(ContainElement(ContainSubstring(`scenario "loop/b" is repeated`)))
	})
	It("notices scenarios that are gone without a trace", func() {
		b, err := reports.FromRecording(recorded(run, record.Close{Trials: 7}, heads, trialOf), kinds.Language().Extensions(), reports.Rejudge(kinds.Language(), nil))
		Expect(err).NotTo(HaveOccurred())
		Expect(b.Close().Problems).To(ContainElement("1 of 3 scenarios planned are missing from the recording"))
		Expect(b.Close().Verdict).To(Equal(gate.Error))
	})
	It("notices trials that are gone without a trace", func() {
		b, err := reports.FromRecording(recorded(run, record.Close{Trials: 9, NotRun: []string{"z"}}, heads, trialOf), kinds.Language().Extensions(), reports.Rejudge(kinds.Language(), nil))
		Expect(err).NotTo(HaveOccurred())
		Expect(b.Close().Problems).To(ContainElement("the close line counts 9 trials, and 7 could be judged"))
	})
	It("names the line that it could not judge", func() {
		_, err := reports.FromRecording(recorded(run, end, heads, trialOf), kinds.Language().Extensions(),
			func(record.Scenario, record.Trial) (measure.Facts, []gate.Finding, error) {
				return measure.Facts{}, nil, errFull
			})
		Expect(err).To(MatchError(errFull))
		Expect(err).To(MatchError(ContainSubstring(`line 3 of the recording: judge scenario "loop/b"`)))
	})
	It("names the expectations that cannot be used", func() {
		bad := heads[0]
		bad.Expect.That = []string{"calls.totl == 1"}
		_, err := reports.FromRecording(recorded(run, end, []record.Scenario{bad}, trialOf), kinds.Language().Extensions(), reports.Rejudge(kinds.Language(), nil))
		Expect(err).To(MatchError(And(ContainSubstring("loop/b"), ContainSubstring("expect.that[0]"))))
	})
	It("takes the times of real time from the timings beside it", func() {
		timed := heads[1]
		timed.RealTime, timed.Trials = true, 2
		timings := []record.Timing{
			{Scenario: timed.Name, Trial: 2, Call: 0, Latency: 9 * time.Second},
			{Scenario: timed.Name, Trial: 1, Call: 0, Latency: time.Second},
			{Scenario: timed.Name, Trial: 1, Call: 1, Latency: time.Second},
			{Scenario: "other", Trial: 1, Call: 0, Latency: time.Hour},
			{Scenario: timed.Name, Trial: 2, Call: 1, Latency: 3 * time.Second},
		}
		for _, c := range []struct {
			timings []record.Timing
			want    []string
		}{{timings, []string{"10s", "2s"}}, {nil, []string{"unknown", "unknown"}}} {
			b, err := reports.FromRecording(recorded(run, end, []record.Scenario{timed}, trialOf), kinds.Language().Extensions(), reports.Rejudge(kinds.Language(), c.timings))
			Expect(err).NotTo(HaveOccurred())
			list := b.Close().Totals.Measures
			Expect([]string{reports.Text(measured(list, "duration")), reports.Text(measured(list, "latency_mean"))}).To(Equal(c.want))
		}
	})
	It("is rejected for a file that is not a recording", func() {
		_, err := reports.FromRecording(strings.NewReader("hello\n"), kinds.Language().Extensions(), reports.Rejudge(kinds.Language(), nil))
		Expect(err).To(MatchError(ContainSubstring("build the report: reading the recording")))
	})
})

var _ = It("keeps the first and the last lines of a long output, whose end names the error", func() {
	var b reports.Builder
	long := "Traceback\n" + strings.Repeat("  File \"é.py\", line 1, in f\n", 400) + "KeyError: 'x'"
	b.Add(record.Scenario{Name: "a", Trials: 1}, measure.Facts{Log: long}, []gate.Finding{
		{Severity: gate.Failing, Rule: "status", Evidence: long},
		{Severity: gate.Failing, Rule: "that", Evidence: strings.Repeat("x", 9000)},
	})
	s := b.Close().Scenarios[0]
	for _, text := range []string{s.Findings[0].Evidence, s.Log} {
		Expect(text).To(And(HavePrefix("Traceback\n"), HaveSuffix("KeyError: 'x'"), ContainSubstring("\n…\n  File")))
		Expect(len(text)).To(BeNumerically("<=", 4<<10))
	}
	Expect(s.Findings[1].Evidence).To(HaveSuffix("xx…"))
})
