package gate_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/scenarios/expect"
)

// clerkFacts are the facts of an extension.
type clerkFacts struct {
	Letters int            `cel:"letters" json:"letters"`
	By      map[string]int `cel:"by" json:"by,omitempty"`
}

func extension(name string, zero any) measure.Extension {
	return measure.Extension{
		Name: name, Zero: zero,
		Of: func(*record.Scenario, *record.Trial, *measure.Facts) any { return zero }, Counts: func(any) bool { return true },
	}
}

// language has an extension, and an agent with its own invariant.
var language = gate.NewLanguage([]measure.Extension{extension("clerk", &clerkFacts{})}, map[string][]gate.Invariant{
	"clerk": append(gate.General(gate.Tolerance{}), gate.Invariant{ID: "always-fails", Words: "it never ends well", Expr: "run.exit_code != 0"}),
})

var _ = Describe("A language", func() {
	judgeWith := func(f measure.Facts, that ...string) []gate.Finding {
		GinkgoHelper()
		j, err := gate.NewJudge(language, expect.Expect{That: that})
		Expect(err).NotTo(HaveOccurred())
		return j.Judge(f)
	}
	letters := func(n int) func(*measure.Facts) {
		return func(f *measure.Facts) {
			f.Extensions = map[string]any{"clerk": &clerkFacts{Letters: n, By: map[string]int{"air": n}}}
		}
	}

	It("reads and shows the facts of its extensions", func() {
		Expect(judgeWith(facts(letters(3)), "clerk.letters == 3 && clerk.by.air == calls.total")).To(BeEmpty())
		Expect(judgeWith(facts(letters(3)), "clerk.letters == 4")).To(HaveExactElements(HaveField("Evidence", "clerk.letters = 3")))
	})

	It("treats missing facts of a trial as empty", func() {
		Expect(judgeWith(facts(), `clerk.letters == 0 && !("air" in clerk.by)`)).To(BeEmpty())
	})

	It("compares the facts of an extension with those of the golden run", func() {
		s := with("clerk.letters <= golden.clerk.letters")
		s.Perturb = []string{"call=2:timeout"}
		j, err := gate.ForScenario(language, &s)
		Expect(err).NotTo(HaveOccurred())
		golden, f := facts(letters(3)), facts(letters(4))
		f.Golden = measure.GoldenOf(&golden)
		Expect(j.Judge(f)).To(HaveExactElements(HaveField("Evidence", Equal("clerk.letters = 4; golden.clerk.letters = 3"))))
		f.Golden.Extensions = nil
		Expect(j.Judge(f)).To(HaveExactElements(HaveField("Evidence", HaveSuffix("; golden.clerk.letters = 0"))))
	})

	DescribeTable("rejects unknown names, with column and nearest name",
		func(text, want string) { Expect(language.CheckInvariant(text)).To(MatchError(want)) },
		Entry("of an extension", `clerk.leters == 1`, `column 6: undefined field 'leters' (did you mean "letters"?)`),
		Entry("of the golden run", `run.status == golden.statu`, `column 21: undefined field 'statu' (did you mean "status"?)`),
		Entry("of the golden run, with nothing near", `run.status == golden.colour`, `column 21: undefined field 'colour'`),
		Entry("of a part of the golden run", `calls.total == golden.calls.totl`, `column 28: undefined field 'totl' (did you mean "total"?)`),
		Entry("of an extension of the golden run", `clerk.letters == golden.clerk.leters`, `column 30: undefined field 'leters' (did you mean "letters"?)`),
		Entry("of a key of a map", `calls.by.work.x == 1`, `column 14: type 'int' does not support field selection`),
		Entry("twice in a path", `run.x.y.z == 1 && golden.x.y.z == 1`, `column 4: undefined field 'x'; column 25: undefined field 'x'`),
		Entry("the extension of the golden run", `clerk.letters == golden.clark.letters`, `column 24: undefined field 'clark' (did you mean "clerk"?)`),
	)

	It("lists the facts if an extension is missing", func() {
		Expect(language.Check("supervise.open == 0")).To(MatchError(And(
			HavePrefix("column 1: undeclared reference to 'supervise'; the facts are run, calls, "), HaveSuffix(", clerk"))))
		Expect((*gate.Language)(nil).Check("clerk.letters == 0")).To(MatchError(HavePrefix("column 1: undeclared reference to 'clerk'")))
	})

	It("rejects the golden run as a whole", func() {
		Expect(language.CheckInvariant("golden == run")).To(MatchError(HavePrefix("column 1: undeclared reference to 'golden'")))
	})

	It("rejects two extensions whose types have the same name", func() {
		type clerkFacts struct{ N int }
		l := gate.NewLanguage(append(language.Extensions(), extension("other", &clerkFacts{})), nil)
		Expect(l.Check("run.exit_code == 0")).To(MatchError(ContainSubstring("facts of the type gate_test.clerkFacts")))
	})

	It("returns the general invariants for an unknown agent", func() {
		Expect(language.Invariants("yours")).To(HaveLen(len(language.Invariants("clerk")) - 1))
		Expect((*gate.Language)(nil).Invariants("clerk")).To(Equal(language.Invariants("yours")))
	})
})
