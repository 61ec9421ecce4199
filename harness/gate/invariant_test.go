package gate_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/scenarios/expect"
)

// perturbed judges facts as those of a perturbed scenario; the golden run is facts().
func perturbed(s record.Scenario, change ...func(*measure.Facts)) []gate.Finding {
	GinkgoHelper()
	s.Perturb = []string{"call=2:timeout"}
	j, err := gate.ForScenario(language, &s)
	Expect(err).ToNot(HaveOccurred())
	golden := facts()
	f := facts(change...)
	f.Golden = measure.GoldenOf(&golden)
	return j.Judge(f)
}

// with returns a scenario with invariants.
func with(invariants ...string) record.Scenario { return record.Scenario{Invariants: invariants} }

const bounded = "// bounded: no more calls than before\n// and one\ncalls.total <= golden.calls.total + 1"

var _ = Describe("Invariants", func() {
	It("compare a perturbed run with the golden one, and describe violations in words", func() {
		Expect(perturbed(with(bounded), func(f *measure.Facts) { f.Calls.Total = 4 })).To(BeEmpty())
		Expect(perturbed(with(bounded), func(f *measure.Facts) { f.Calls.Total = 5 })).To(ConsistOf(gate.Finding{
			Severity: gate.Failing, Rule: gate.InvariantRule, At: "invariants[0]",
			Message:  "bounded: no more calls than before and one",
			Evidence: "calls.total = 5; golden.calls.total = 3\ndoes not hold: calls.total <= golden.calls.total + 1",
		}))
	})

	It("are described by their expression if they have no words", func() {
		found := perturbed(with("calls.total == 0"))
		Expect(found).To(HaveLen(1))
		Expect(found[0].Message).To(Equal("does not hold: calls.total == 0"))
		Expect(found[0].Evidence).To(Equal("calls.total = 3"))
	})

	It("report their place in the file, unless they come with the agent", func() {
		s := with(append(language.Invariants("clerk"), "true", "false")...)
		s.Agent = "clerk"
		found := perturbed(s, func(f *measure.Facts) { f.Run.ExitCode = 0 })
		Expect(found).To(HaveLen(2))
		Expect(found[0].Message).To(HavePrefix("always-fails: it never ends well"))
		Expect(found[0].At).To(BeEmpty())
		Expect(found[1].At).To(Equal("invariants[1]"))
	})

	It("give no verdict without a golden run", func() {
		s := with(bounded)
		s.Perturb = []string{"call=2:timeout"}
		j, err := gate.ForScenario(language, &s)
		Expect(err).ToNot(HaveOccurred())
		found := j.Judge(facts())
		Expect(gate.VerdictOf(found)).To(Equal(gate.Error))
		Expect(found[0].Evidence).To(ContainSubstring("no golden run was recorded"))
	})

	It("require that the facts they read are known, including facts of the golden run", func() {
		s := with("cost.known && golden.cost.usd < 1.0")
		s.Perturb = []string{"call=2:timeout"}
		j, err := gate.ForScenario(language, &s)
		Expect(err).ToNot(HaveOccurred())
		golden := facts(func(f *measure.Facts) { f.Cost = measure.CostFacts{Why: "no price"} })
		f := facts()
		f.Golden = measure.GoldenOf(&golden)
		found := j.Judge(f)
		Expect(found).To(HaveLen(1))
		Expect(found[0].Message).To(Equal("golden.cost.usd is unknown: cost.known && golden.cost.usd < 1.0"))
		Expect(found[0].Evidence).To(Equal("no price"))
	})

	It("are judged together with violations and unfired faults", func() {
		found := perturbed(with("true"), func(f *measure.Facts) {
			f.Run.Violations = []string{"an answer was lost"}
			f.Script.Unfired = []string{"call=2:timeout: no such call was made"}
			f.Script.Unused = []string{"replies[9]"}
		})
		Expect(found).To(HaveLen(2))
		Expect(found[0].Rule).To(Equal("unfired-fault"))
		Expect(found[1].Rule).To(Equal("promise"))
	})

	It("replace expectations unless the perturbed scenario has some", func() {
		s := with("true")
		s.Expect = expect.Expect{Allow: []string{expect.UnusedLine}}
		Expect(perturbed(s, func(f *measure.Facts) { f.Script.Unexpected = []string{"call 9"} })).To(BeEmpty())
		s.Expect.Status = "done"
		found := perturbed(s, func(f *measure.Facts) { f.Script.Unexpected = []string{"call 9"} })
		Expect(found).To(HaveLen(2))
		Expect(found[0].Rule).To(Equal(expect.UnexpectedCall))
		Expect(found[1].Rule).To(Equal("status"))
	})

	It("are rejected if they do not compile", func() {
		s := with("true", "calls.totl == 3")
		s.Perturb = []string{"call=2:timeout"}
		_, err := gate.ForScenario(language, &s)
		Expect(err).To(MatchError(ContainSubstring(`invariants[1]: column 6: undefined field 'totl' (did you mean "total"?)`)))
	})

	It("may read golden, which expectations may not", func() {
		Expect(language.CheckInvariant("calls.total <= golden.calls.total")).To(Succeed())
		Expect(language.CheckInvariant("calls.total <=")).NotTo(Succeed())
		Expect(language.Check("calls.total <= golden.calls.total")).To(MatchError(
			HavePrefix("column 16: golden is known to invariants only")))
		Expect(language.Check("calls.total == 3 && run.details != 'golden'")).To(Succeed())
	})

	DescribeTable("are rejected if they are the same for all runs",
		func(text string) {
			Expect(language.CheckInvariant(text)).To(MatchError(ContainSubstring("reads no fact of the run")))
		},
		Entry("a constant", "true"),
		Entry("an equation of constants", "// fine\n1 + 1 == 2"),
		Entry("only the golden run", "golden.calls.total == golden.calls.total"),
	)

	It("compare the golden run with itself", func() {
		s := with(bounded, "golden.calls.total == 3", "// few: at most one call\ncalls.total <= 1")
		j, err := gate.ForScenario(language, &s)
		Expect(err).ToNot(HaveOccurred())
		f := facts()
		found := j.Judge(f)
		Expect(found).To(HaveLen(1))
		Expect(found[0].Message).To(Equal("few: at most one call"))
		Expect(found[0].At).To(Equal("invariants[2]"))
		Expect(f.Golden).To(BeZero())
		s = with("calls.totl == 3")
		_, err = gate.ForScenario(language, &s)
		Expect(err).To(MatchError(ContainSubstring("undefined field")))
	})

	DescribeTable("describe a violation by their words, or by their expression",
		func(text, message string) {
			s := with(text)
			j, err := gate.ForScenario(language, &s)
			Expect(err).NotTo(HaveOccurred())
			found := j.Judge(facts())
			Expect(found).To(HaveLen(1))
			Expect(found[0].Message).To(Equal(message))
		},
		Entry("no words", "calls.total == 9", "does not hold: calls.total == 9"),
		Entry("words", "// one: two\ncalls.total == 9", "one: two"),
		Entry("blank lines", "\n // one\n\n\t//two\r\n calls.total == 9\n", "one two"),
		Entry("a trailing comment belongs to the expression", "calls.total == 9 // one\n", "does not hold: calls.total == 9 // one"),
	)

	DescribeTable("are rejected without an expression",
		func(text string) { Expect(language.CheckInvariant(text)).NotTo(Succeed()) },
		Entry("only words", "// one"),
		Entry("nothing", ""),
	)
})
