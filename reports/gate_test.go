package reports_test

import (
	"bytes"
	"encoding/json"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness/compare"
	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/internal/console"
	"github.com/rehearse-dev/rehearse/kinds"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/doc"
)

// failedFast is the report of a run that was stopped after the first of nine trials, which failed.
func failedFast(asked bool) reports.Report {
	b := &reports.Builder{
		Extensions: kinds.Language().Extensions(), Run: record.Run{Scenarios: 2}, Stopped: "1 scenario failed", FailFast: asked, NotRun: []string{"b"},
	}
	b.Add(scenario("a", 9), facts("failed", 1), []gate.Finding{{Severity: gate.Failing, Rule: "status", Message: "expected done"}})
	return b.Close()
}

var _ = Describe("a run that was stopped", Label("H-05", "H-06"), func() {
	const why = "the budget of 3 calls is used up: 3 were made"

	It("has no verdict, whatever passed before, in a run and in its recording", func() {
		live := &reports.Builder{Extensions: kinds.Language().Extensions(), Run: record.Run{Scenarios: 2}, Stopped: why, NotRun: []string{"b"}}
		live.Add(scenario("a", 1), facts("done", 1), nil)
		Expect(live.Close().Verdict).To(Equal(gate.Error))
		Expect(live.Close().Stopped).To(Equal(why))

		var file bytes.Buffer
		w, err := record.NewWriter(&file, record.Run{Scenarios: 2})
		Expect(err).NotTo(HaveOccurred())
		Expect(w.Scenario(scenario("a", 1))).To(Succeed())
		lines, err := record.Encode(record.Trial{Head: record.TrialHead{Scenario: "a", N: 1}, End: record.End{Status: "done"}})
		Expect(err).NotTo(HaveOccurred())
		Expect(w.Trial(lines)).To(Succeed())
		Expect(w.Close(record.Close{Trials: 1, Stopped: why, NotRun: []string{"b"}})).To(Succeed())
		builder, err := reports.FromRecording(&file, kinds.Language().Extensions(), reports.Rejudge(kinds.Language(), nil))
		Expect(err).NotTo(HaveOccurred())
		Expect(builder.Close().Verdict).To(Equal(gate.Error))
		Expect(builder.Close().Stopped).To(Equal(why))
		Expect(builder.Close().Problems).To(BeEmpty())
	})

	It("fails if it was to end at its failures, and does not miss the trials after them", func() {
		r := failedFast(true)
		Expect(r.Verdict).To(Equal(gate.Fail))
		Expect(r.Scenarios[0].Verdict).To(Equal(gate.Fail))
		Expect(r.Scenarios[0].Planned).To(Equal(9))
		Expect(r.Scenarios[0].Findings).To(HaveLen(1))
		Expect(render(asJUnit, r, options{})).NotTo(ContainSubstring("<error"))
		Expect(render(asAnnotations, r, options{})).NotTo(ContainSubstring("title=stopped"))
		Expect(render(asTerminal, r, options{})).To(And(ContainSubstring("Stopped: 1 scenario failed"), ContainSubstring("fail (stopped):")))

		r = failedFast(false)
		Expect(r.Verdict).To(Equal(gate.Error))
		Expect(r.Scenarios[0].Findings).To(HaveLen(2))
	})

	It("is in every report", func() {
		r := sample()
		r.Interrupted = false
		Expect(render(asTerminal, r, options{})).To(And(ContainSubstring("\nStopped: the budget of 0.5 EUR"), ContainSubstring("error (stopped):")))
		Expect(render(asMarkdown, r, options{})).To(And(ContainSubstring("Stopped: `the budget of 0.5 EUR"), ContainSubstring("**ERROR** (stopped)")))
		Expect(render(asJUnit, r, options{})).To(ContainSubstring(`<error message="the budget of 0.5 EUR`))
		Expect(render(asAnnotations, r, options{})).To(ContainSubstring("::error title=stopped::the budget of 0.5 EUR"))
	})
})

var _ = Describe("a comparison in a report", Label("H-05", "H-06"), func() {
	DescribeTable("makes the verdict worse and never better", func(run, comparison, want gate.Verdict) {
		r := reports.Report{Verdict: run}
		r.Compare(compare.Result{Verdict: comparison})
		Expect(r.Verdict).To(Equal(want))
		Expect(r.Comparison.Verdict).To(Equal(comparison))
	},
		Entry("pass run, pass comparison", gate.Pass, gate.Pass, gate.Pass),
		Entry("pass run, fail comparison", gate.Pass, gate.Fail, gate.Fail),
		Entry("pass run, error comparison", gate.Pass, gate.Error, gate.Error),
		Entry("fail run, pass comparison", gate.Fail, gate.Pass, gate.Fail),
		Entry("fail run, fail comparison", gate.Fail, gate.Fail, gate.Fail),
		Entry("fail run, error comparison", gate.Fail, gate.Error, gate.Error),
		Entry("error run, pass comparison", gate.Error, gate.Pass, gate.Error),
		Entry("error run, fail comparison", gate.Error, gate.Fail, gate.Error),
		Entry("error run, error comparison", gate.Error, gate.Error, gate.Error),
		Entry("skip run, pass comparison", gate.Skip, gate.Pass, gate.Skip),
		Entry("skip run, fail comparison", gate.Skip, gate.Fail, gate.Fail),
		Entry("skip run, error comparison", gate.Skip, gate.Error, gate.Error),
		Entry("pass run, skip comparison", gate.Pass, gate.Skip, gate.Error),
		Entry("pass run, unknown comparison", gate.Pass, gate.Verdict("?"), gate.Error),
	)

	It("has no test case of its own, and fails the scenarios that are worse", func() {
		r := sample()
		without := strings.Count(render(asJUnit, r, options{}), "<testcase")
		r.Comparison = &compare.Result{Before: "b.json", Verdict: gate.Pass, Equal: 7}
		Expect(strings.Count(render(asJUnit, r, options{}), "<testcase")).To(Equal(without))
		r.Comparison = &compare.Result{Before: "b.json", Verdict: gate.Fail, Findings: []compare.Finding{
			{Scenario: "loop/done-marker", Finding: gate.Finding{Severity: gate.Failing, Rule: "regression", Message: "calls is worse"}},
			{Scenario: "loop/gone", Finding: gate.Finding{Severity: gate.Failing, Rule: "missing", Message: "it did not run"}},
		}}
		text := render(asJUnit, r, options{})
		Expect(strings.Count(text, "<testcase")).To(Equal(without + 1))
		Expect(text).To(MatchRegexp(`(?s)name="done-marker" classname="rehearse.loop"[^>]*>.*?<failure message="against the baseline: calls is worse" type="regression">`))
		Expect(text).To(MatchRegexp(`(?s)name="gone" classname="rehearse.loop".{0,40}<properties>.*?<failure message="against the baseline: it did not run"`))
	})

	It("is an error where no finding explains the verdict it did not pass", func() {
		r := sample()
		r.Comparison = &compare.Result{Before: "b.json", Verdict: gate.Error}
		Expect(render(asJUnit, r, options{})).To(ContainSubstring(`<error message="no finding explains the verdict"`))
	})

	It("keeps to the width of a terminal, and is cut where it is long", func() {
		c := comparison()
		for range 300 {
			c.Missing = append(c.Missing, strings.Repeat("long-name/", 5))
		}
		for _, columns := range []int{40, 80, 120} {
			var out bytes.Buffer
			Expect(doc.Terminal(&out, reports.ComparisonDocument(c, nil), console.Terminal{Width: columns})).To(Succeed())
			for line := range strings.Lines(out.String()) {
				if !strings.HasPrefix(line, "To accept") { // to be pasted
					Expect(console.Width(strings.TrimSuffix(line, "\n"))).To(BeNumerically("<=", columns), line)
				}
			}
			Expect(out.String()).To(ContainSubstring("and 201 more"))
		}
	})

	It("stands alone as Markdown that fits, and as JSON", func() {
		c := comparison()
		for range 3000 {
			c.Changed = append(c.Changed, compare.ExpectationChange{Scenario: "s", What: "expect.calls", Before: "1", After: "2"})
		}
		var out bytes.Buffer
		Expect(doc.Markdown(&out, reports.ComparisonDocument(c, nil), 10_000)).To(Succeed())
		Expect(out.Len()).To(BeNumerically("<=", 10_000))
		Expect(out.String()).To(And(HavePrefix("<!-- rehearse:report -->"), ContainSubstring("more changed expectations")))
		out.Reset()
		Expect(reports.JSON(&out, c)).To(Succeed())
		Expect(out.String()).To(ContainSubstring(`"schema": "rehearse.comparison/1"`))
	})
})

var _ = Describe("several trials", Label("H-04", "H-05"), func() {
	// built are trials of which some passed, some failed and some were not carried out.
	built := func(pass, fail, skip int) reports.Scenario {
		var b reports.Builder
		head := scenario("s", pass+fail+skip)
		for range pass {
			b.Add(head, facts("done", 1), nil)
		}
		for range fail {
			b.Add(head, facts("done", 1), failing("status"))
		}
		for range skip {
			b.Add(head, facts("", 1), []gate.Finding{{Severity: gate.Skipped}})
		}
		return b.Close().Scenarios[0]
	}

	DescribeTable("are flaky where some passed and others failed", func(pass, fail, skip int, flaky bool) {
		s := built(pass, fail, skip)
		Expect(s.Flaky).To(Equal(flaky))
		r := reports.Report{Verdict: s.Verdict, Scenarios: []reports.Scenario{s}}
		Expect(strings.Contains(render(asTerminal, r, options{}), "flaky s\n")).To(Equal(flaky))
		Expect(strings.Contains(render(asMarkdown, r, options{}), "- **flaky** `s`\n")).To(Equal(flaky))
		Expect(render(asJUnit, r, options{})).To(ContainSubstring(map[bool]string{true: `name="flaky" value="true"`, false: `name="flaky" value="false"`}[flaky]))
	},
		Entry("some", 3, 2, 0, true),
		Entry("all passed", 5, 0, 0, false),
		Entry("all failed", 0, 5, 0, false),
		Entry("some skipped", 4, 0, 1, false),
		Entry("one", 1, 0, 0, false),
		Entry("one of two", 1, 1, 0, true),
	)

	It("include pass@k and pass^k for each k up to the number of trials", func() {
		s := built(3, 2, 1)
		Expect(s.Repeats).To(HaveLen(2))
		// At least one of 2 of 5: 1 - C(2,2)/C(5,2) = 9/10; both: C(3,2)/C(5,2) = 3/10.
		Expect(s.Repeats[0].K).To(Equal(2))
		Expect(*s.Repeats[0].PassAt.Value).To(BeNumerically("~", 0.9, 1e-12))
		Expect(*s.Repeats[0].PassAll.Value).To(BeNumerically("~", 0.3, 1e-12))
		Expect(s.Repeats[0].PassAt.Interval).NotTo(BeNil())
		Expect(s.Repeats[1].K).To(Equal(5))
		Expect(*s.Repeats[1].PassAt.Value).To(Equal(1.0))
		Expect(*s.Repeats[1].PassAll.Value).To(Equal(0.0))
		Expect(built(1, 0, 4).Repeats).To(BeEmpty(), "one trial tells nothing of two")
	})
})

var _ = Describe("the place of an annotation", Label("H-05"), func() {
	annotate := func(file string, where map[string]int, at string) string {
		s := sample().Scenarios[2]
		s.Name, s.File, s.Where, s.MoreFindings = "s", file, where, 0
		s.Findings = []gate.Finding{{Severity: gate.Failing, Rule: "calls", Message: "m", At: at}}
		return render(asAnnotations, reports.Report{Scenarios: []reports.Scenario{s}}, options{})
	}
	where := map[string]int{"name": 3, "expect.calls": 12}

	DescribeTable("is the line that demands it, else that of the name", func(file string, where map[string]int, at, want string) {
		Expect(annotate(file, where, at)).To(HavePrefix(want))
	},
		Entry("the key", "a.yaml", where, "expect.calls", "::error file=a.yaml,line=12,title="),
		Entry("a key that is not noted", "a.yaml", where, "expect.tokens", "::error file=a.yaml,line=3,title="),
		Entry("no key", "a.yaml", where, "", "::error file=a.yaml,line=3,title="),
		Entry("nothing noted", "a.yaml", nil, "expect.calls", "::error file=a.yaml,line=1,title="),
		Entry("no file", "", where, "expect.calls", "::error title="),
		Entry("a shipped one, which is no file here", "shipped:loop/x.yaml", where, "expect.calls", "::error title="),
	)

	It("stands once for a scenario, with the root cause first", func() {
		s := sample().Scenarios[2]
		s.File, s.Where, s.MoreFindings = "a.yaml", where, 0
		s.Findings = []gate.Finding{
			{Severity: gate.Failing, Rule: "calls", Message: "m", At: "expect.calls", Trial: 1, Evidence: "the cause"},
			{Severity: gate.Failing, Rule: "status", Message: "n", Trial: 1, Evidence: "a consequence"},
			{Severity: gate.Failing, Rule: "calls", Message: "m", At: "expect.calls", Trial: 2},
		}
		text := render(asAnnotations, reports.Report{Scenarios: []reports.Scenario{s}}, options{})
		Expect(text).To(HaveSuffix("::calls: trial 1: m: the cause%0Astatus: trial 1: n%0Acalls: trial 2: m\n"))
		Expect(strings.Count(text, "\n")).To(Equal(1))
	})
})

var _ = Describe("The code quality report of GitLab", Label("H-05"), func() {
	issues := func(r reports.Report) (list []map[string]any) {
		GinkgoHelper()
		var out bytes.Buffer
		Expect(reports.GitLab(&out, r)).To(Succeed())
		Expect(json.Unmarshal(out.Bytes(), &list)).To(Succeed())
		return list
	}
	It("has an issue for each scenario that did not pass, and for the run", func() {
		list := issues(sample())
		var names []string
		for _, issue := range list {
			names = append(names, issue["check_name"].(string)+" "+issue["severity"].(string))
		}
		Expect(names).To(Equal([]string{
			"rehearse/recording critical", "rehearse/stopped critical", "rehearse/fault-not-fired critical",
			"rehearse/regression major", "rehearse/status major",
		}))
		Expect(list[4]["location"]).To(Equal(map[string]any{"path": "scenarios/loop/no-progress.yaml", "lines": map[string]any{"begin": 2.0}}))
	})
	It("recognises an issue of another run, and none other", func() {
		r := sample()
		before := issues(r)
		r.Scenarios[2].Findings[0].Message = "expected another status"
		r.Scenarios[2].Trials.Fail++
		after := issues(r)
		seen := map[any]bool{}
		for i := range before {
			Expect(after[i]["fingerprint"]).To(Equal(before[i]["fingerprint"]))
			Expect(seen).NotTo(HaveKey(before[i]["fingerprint"]))
			seen[before[i]["fingerprint"]] = true
		}
	})
	It("is an empty list if all passed", func() {
		Expect(issues(reports.Report{Scenarios: sample().Scenarios[:1]})).To(BeEmpty())
		var out bytes.Buffer
		Expect(reports.GitLab(&out, reports.Report{})).To(Succeed())
		Expect(out.String()).To(Equal("[]\n"))
	})
	It("has no control characters of a model", func() {
		var out bytes.Buffer
		Expect(reports.GitLab(&out, hostile())).To(Succeed())
		Expect(out.String()).NotTo(ContainSubstring("\\u001b"))
	})
})
