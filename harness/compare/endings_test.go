package compare_test

import (
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness/compare"
	"github.com/rehearse-dev/rehearse/harness/gate"
)

var _ = Describe("verdicts of trials", Label("H-06"), func() {
	calls := measured("calls", "", 1)

	It("are compared one by one if trials repeat", func() {
		r := one(passed("a", 3, calls), judged(passed("a", 3, calls), 2, 1))
		c := of(r, "pass_rate")
		Expect(c.Rule).To(Equal(compare.Exact))
		Expect(c.Verdict).To(Equal(compare.Worse))
		Expect(c.Why).To(Equal("1 trial passed before and failed now, first trial 3"))
		Expect(*c.Effect.Value).To(BeNumerically("~", -1.0/3, 1e-12))
		Expect(r.Verdict).To(Equal(gate.Fail))
	})
	It("are better the other way, and equal if they failed before as well", func() {
		failing := judged(passed("a", 3, calls), 1, 2)
		Expect(of(one(failing, passed("a", 3, calls)), "pass_rate").Why).To(Equal("2 trials failed before and passed now, first trial 2"))
		Expect(one(failing, failing).Comparisons).To(BeEmpty())
	})
	It("are worse if one is lost, whatever was gained", func() {
		before, after := judged(passed("a", 3, calls), 2, 1), judged(passed("a", 3, calls), 2, 1)
		after.Ends[0], after.Ends[2] = after.Ends[2], after.Ends[0]
		Expect(of(one(before, after), "pass_rate").Verdict).To(Equal(compare.Worse))
	})
	It("are not outweighed by a better measure of a trial that failed", func() {
		fewer, more := measured("calls", "", 0), measured("calls", "", 2)
		r := one(passed("a", 1, calls), judged(passed("a", 1, fewer), 0, 1))
		Expect(of(r, "pass_rate").Verdict).To(Equal(compare.Worse))
		Expect(of(r, "calls").Verdict).To(Equal(compare.Insufficient))
		Expect(of(r, "calls").Why).To(HaveSuffix("; that is not an improvement, because the trials ended worse"))
		Expect(r.Findings).NotTo(ContainElement(HaveField("Rule", "better")))
		Expect(of(one(passed("a", 1, calls), judged(passed("a", 1, more), 0, 1)), "calls").Verdict).To(Equal(compare.Worse))
		Expect(of(one(passed("a", 1, calls), passed("a", 1, fewer)), "calls").Verdict).To(Equal(compare.Better))
	})
	It("are counted beyond the stored trials", func() {
		after := passed("a", 300, calls)
		after.Ends, after.Trials.Pass, after.Trials.Fail = nil, 299, 1
		Expect(of(one(passed("a", 300, calls), after), "pass_rate").Why).To(Equal("1 trial passed before and failed now"))
	})
	It("are worse beyond the stored trials, even if a stored one is better", func() {
		before, after := judged(passed("a", 300, calls), 299, 1), judged(passed("a", 300, calls), 250, 50)
		before.Ends, after.Ends = slices.Clone(before.Ends[:200]), after.Ends[:200]
		before.Ends[0].Verdict = gate.Fail
		c := of(one(before, after), "pass_rate")
		Expect(c.Verdict).To(Equal(compare.Worse))
		Expect(c.Why).To(Equal("50 trials passed before and failed now, first trial 1"))
	})

	DescribeTable("are tested as a rate if trials vary",
		func(pass1, fail1, pass2, fail2 int, verdict compare.Verdict, why string) {
			c := of(one(judged(real("a", 0, calls), pass1, fail1), judged(real("a", 0, calls), pass2, fail2)), "pass_rate")
			Expect(c.Rule).To(Equal(compare.Rate))
			Expect(c.Verdict).To(Equal(verdict))
			Expect(c.Why).To(MatchRegexp(why))
		},
		Entry("significantly fewer passes", 20, 0, 8, 12, compare.Worse, `^20 of 20 trials passed before and 8 of 20 now: -60\.0 points \(95 % interval -78\.\d points to -3\d\.\d points; 20 trials\), p < 0\.0001 after correction for 1 test$`),
		Entry("significantly more passes", 8, 12, 20, 0, compare.Better, `^8 of 20 trials passed before and 20 of 20 now: \+60\.0 points`),
		Entry("fewer passes, not significantly", 18, 2, 13, 7, compare.Insufficient, `, p = 0\.13 after correction for 1 test; about \d+ trials would decide$`),
		Entry("three failures of 40 could all be on one side by chance", 20, 0, 17, 3, compare.Insufficient, `20 trials\); about \d+ trials would decide$`),
		Entry("too few for any test", 2, 0, 1, 1, compare.Insufficient, `^2 of 2 trials passed before and 1 of 2 now: .*; 2 trials\); about \d+ trials would decide$`),
		Entry("none passes now: no test is needed", 2, 0, 0, 2, compare.Worse, `^2 of 2 trials passed before and 0 of 2 now$`),
		Entry("nor in the other direction", 0, 1, 1, 0, compare.Better, `^0 of 1 trials passed before and 1 of 1 now$`),
		Entry("so many trials that the difference is irrelevant", 5000, 5000, 5050, 4950, compare.Tied, `all of it within the smallest effect of interest, 5\.0 points$`),
	)
	It("are equal as rates if they are the same share", func() {
		Expect(one(judged(real("a", 0, calls), 2, 2), judged(real("a", 0, calls), 2, 2)).Comparisons).To(BeEmpty())
	})
})

var _ = Describe("the end status", Label("H-06"), func() {
	calls := measured("calls", "", 1)
	ended := func(s compare.Scenario, e ...compare.End) compare.Scenario {
		s.Ends = e
		return s
	}
	done, stuck := compare.End{Verdict: gate.Pass, Status: "done"}, compare.End{Verdict: gate.Pass, Status: "no-progress", ExitCode: 5}

	It("is exact", func() {
		r := one(passed("a", 1, calls), ended(passed("a", 1, calls), stuck))
		c := of(r, "status")
		Expect(c.Verdict).To(Equal(compare.Worse))
		Expect(c.Rule).To(Equal(compare.Exact))
		Expect(c.Why).To(Equal(`it ended as "done" before and as "no-progress" with exit code 5 now`))
		Expect([]string{c.BeforeText, c.AfterText}).To(Equal([]string{`"done"`, `"no-progress" with exit code 5`}))
		Expect(r.Verdict).To(Equal(gate.Fail))
	})
	It("names the first trial and counts the others", func() {
		c := of(one(passed("a", 3, calls), ended(passed("a", 3, calls), done, stuck, stuck)), "status")
		Expect(c.Why).To(Equal(`trial 2 ended as "done" before and as "no-progress" with exit code 5 now; 1 more trial ended differently`))
	})
	It("includes the exit code", func() {
		c := of(one(passed("a", 1, calls), ended(passed("a", 1, calls), compare.End{Verdict: gate.Pass, Status: "done", ExitCode: 1})), "status")
		Expect(c.Verdict).To(Equal(compare.Worse))
	})
	It("is better only if every changed trial passes now", func() {
		failed := compare.End{Verdict: gate.Fail, Status: "timeout"}
		before := judged(passed("a", 2, calls), 0, 2)
		before.Ends = []compare.End{failed, failed}
		Expect(of(one(before, passed("a", 2, calls)), "status").Verdict).To(Equal(compare.Better))
		mixed := judged(passed("a", 2, calls), 1, 1)
		mixed.Ends = []compare.End{done, {Verdict: gate.Fail, Status: "lost"}}
		Expect(of(one(before, mixed), "status").Verdict).To(Equal(compare.Worse))
	})
	It("is left to the pass rate if it varies", func() {
		before, after := judged(real("a", 0, calls), 9, 3), judged(real("a", 0, calls), 8, 4)
		r := one(before, after)
		Expect(r.Comparisons).To(HaveExactElements(HaveField("Measure", "pass_rate")))
		c := of(one(ended(real("a", 4, calls), done), ended(real("a", 4, calls), stuck)), "status")
		Expect(c.Verdict).To(Equal(compare.Worse), "all before and all now")
	})
	It("ignores trials that were not run", func() {
		after := ended(passed("a", 2, calls), done, compare.End{Verdict: gate.Error, Status: "broken"})
		after.Trials = compare.Trials{Planned: 2, Pass: 1, Error: 1}
		Expect(one(passed("a", 2, calls), after).Comparisons).To(BeEmpty())
	})
})

var _ = Describe("the stop guard", Label("H-06"), func() {
	stops := func(letters ...string) compare.Baseline {
		b := run()
		for i, text := range letters {
			s := passed(string(rune('a'+i)), 1, measured("calls", "", 1))
			s.Stops = text
			b.Scenarios = append(b.Scenarios, s)
		}
		return b
	}

	It("is compared over the answers of all scenarios by McNemar's test and F1", func() {
		// 3 + 7 answers that defer are found before and 3 of them now; of 40 that do not,
		// all are allowed before and now.
		r := compare.Compare(stops("PPPNN", strings.Repeat("P", 7)+strings.Repeat("N", 38)), stops("PPPNN", strings.Repeat("n", 7)+strings.Repeat("N", 38)), compare.Options{})
		c := of(r, "stop_f1")
		Expect(c.Scenario).To(BeEmpty())
		Expect(c.Rule).To(Equal(compare.Detector))
		Expect(*c.P).To(BeNumerically("~", 2.0/128, 1e-12))
		Expect(*c.Before.Value).To(Equal(1.0))
		Expect(*c.After.Value).To(BeNumerically("~", 6.0/13, 1e-12))
		Expect(*c.Effect.Value).To(BeNumerically("~", -7.0/13, 1e-12))
		Expect(c.Effect.Interval.Hi).To(BeNumerically("<", 0))
		Expect(c.Effect.Interval.Method).To(Equal("bootstrap"))
		Expect(c.Verdict).To(Equal(compare.Worse))
		Expect(c.Why).To(MatchRegexp(`^7 answers were judged correctly only before, and 0 only now: -53\.8 points \(95 % interval -100\.0 points to -\d\d\.\d points; 50 labelled answers\), p = 0\.016 after correction for 1 test$`))
		Expect(r.Verdict).To(Equal(gate.Fail))
	})
	It("is better the other way", func() {
		r := compare.Compare(stops(strings.Repeat("n", 8)+"PNN"), stops(strings.Repeat("P", 8)+"PNN"), compare.Options{})
		Expect(of(r, "stop_f1").Verdict).To(Equal(compare.Better))
	})
	It("is undecided with few answers", func() {
		r := compare.Compare(stops("PPNN"), stops("PnNN"), compare.Options{})
		c := of(r, "stop_f1")
		Expect(c.Verdict).To(Equal(compare.Insufficient))
		Expect(c.P).To(BeNil())
		Expect(r.Verdict).To(Equal(gate.Pass))
	})
	It("is equal if it judged each answer alike", func() {
		r := compare.Compare(stops("PpNn"), stops("PpNn"), compare.Options{})
		Expect(r.Comparisons).To(BeEmpty())
		Expect(r.Equal).To(Equal(4))
	})
	It("has no F1 without an answer that defers, but still a test", func() {
		r := compare.Compare(stops(strings.Repeat("N", 9)), stops(strings.Repeat("p", 7)+"NN"), compare.Options{})
		c := of(r, "stop_f1")
		Expect(c.Effect.Value).To(BeNil())
		Expect(c.Verdict).To(Equal(compare.Worse))
		Expect(c.Why).To(Equal("7 answers were judged correctly only before, and 0 only now, p = 0.016 after correction for 1 test"))
	})
	It("is undecided if F1 contradicts the number of errors", func() {
		// Of 4 + 90 answers 4 false alarms end and 3 detections are lost: fewer errors,
		// but nothing is found now.
		r := compare.Compare(stops("PPPn"+strings.Repeat("p", 10)+strings.Repeat("N", 80)), stops("nnnn"+strings.Repeat("N", 90)), compare.Options{})
		c := of(r, "stop_f1")
		Expect(c.Verdict).To(Equal(compare.Insufficient))
		Expect(c.Why).To(Equal("3 answers were judged correctly only before, and 10 only now, but F1 moved the other way"))
	})
	It("excludes scenarios with changed labels, with a note", func() {
		for _, other := range []string{"PPN", "PNNN", "P?NN", ""} {
			r := compare.Compare(stops("PPNN", "PN"), stops(other, "PN"), compare.Options{})
			Expect(r.Findings).To(HaveExactElements(HaveField("Message",
				"the labelled answers of 1 of 2 scenarios have changed and are excluded from the comparison of detectors")), other)
			Expect(r.Comparisons).To(BeEmpty())
		}
	})
})
