package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	"github.com/onsi/ginkgo/v2/types"
	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/internal/console"
	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/reports"
)

func TestTrace(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "tools/trace")
}

func proof(kind Kind, name string, v gate.Verdict, ids ...string) Proof {
	return Proof{Kind: kind, Name: name, Verdict: v, IDs: ids}
}

func tableOf(proofs ...Proof) Table {
	GinkgoHelper()
	t, err := Requirements(proofs)
	Expect(err).NotTo(HaveOccurred())
	return t
}

func row(t Table, id string) Requirement {
	GinkgoHelper()
	for _, r := range t.Requirements {
		if r.ID == id {
			return r
		}
	}
	Fail("no requirement " + id)
	return Requirement{}
}

var _ = Describe("the list of requirements", Label("H-05"), func() {
	It("has unique ids in order, with titles of one line", func() {
		var ids []string
		for _, r := range tableOf().Requirements {
			ids = append(ids, r.ID)
			Expect(r.Title).To(MatchRegexp(`^[A-Z].{15,120}$`), r.ID)
		}
		var want []string
		for _, group := range []struct {
			letter string
			n      int
		}{{"L", 11}, {"G", 12}, {"P", 9}, {"I", 18}, {"R", 9}, {"H", 8}} {
			for n := 1; n <= group.n; n++ {
				want = append(want, group.letter+"-"+string(rune('0'+n/10))+string(rune('0'+n%10)))
			}
		}
		Expect(ids).To(Equal(want))
	})
	It("is unproven without proofs", func() {
		t := tableOf()
		Expect(t.Complete()).To(BeFalse())
		for _, r := range t.Requirements {
			Expect(r.Status).To(Equal(None), r.ID)
		}
	})
	It("is complete if each is proven, but not if one is missing or an id is unknown", func() {
		var all []string
		for _, r := range tableOf().Requirements {
			all = append(all, r.ID)
		}
		Expect(tableOf(proof(Spec, "all", gate.Pass, all...)).Complete()).To(BeTrue())
		Expect(tableOf(proof(Spec, "all", gate.Pass, all[1:]...)).Complete()).To(BeFalse())
		Expect(tableOf(proof(Spec, "all", gate.Pass, append(all, "L-99")...)).Complete()).To(BeFalse())
	})
})

var _ = DescribeTable("the status of a requirement from its proofs", Label("H-05"),
	func(want Status, verdicts ...gate.Verdict) {
		var proofs []Proof
		for i, v := range verdicts {
			proofs = append(proofs, proof(Scenario, string(rune('a'+i)), v, "L-05"))
		}
		got := row(tableOf(proofs...), "L-05")
		Expect(got.Status).To(Equal(want))
		Expect(got.Proofs).To(HaveLen(len(verdicts)))
	},
	Entry("none", None),
	Entry("a pass", Proven, gate.Pass),
	Entry("a pass and a skip", Proven, gate.Skip, gate.Pass),
	Entry("only skips", Skipped, gate.Skip, gate.Skip),
	Entry("an error", Unclear, gate.Pass, gate.Error),
	Entry("an unknown verdict", Unclear, gate.Pass, gate.Verdict("green")),
	Entry("a failure", Refuted, gate.Pass, gate.Error, gate.Fail),
)

var _ = Describe("proofs", Label("H-05"), func() {
	It("come from the scenarios that name requirements", func() {
		r := reports.Report{Scenarios: []reports.Scenario{
			{Name: "loop/a", Verdict: gate.Fail, Proves: []string{"L-05", "L-07"}},
			{Name: "loop/b", Verdict: gate.Pass},
		}}
		Expect(FromReport(r)).To(Equal([]Proof{proof(Scenario, "loop/a", gate.Fail, "L-05", "L-07")}))
	})
	It("count once, in any order and with any repetitions", func() {
		a, b := proof(Spec, "a", gate.Pass, "L-01", "L-01"), proof(Scenario, "b", gate.Pass, "L-01")
		Expect(tableOf(a, b, a)).To(Equal(tableOf(b, a)))
		Expect(row(tableOf(a, a), "L-01").Proofs).To(HaveLen(1))
	})
	It("are reported with the unknown ids that they name", func() {
		t := tableOf(proof(Scenario, "loop/a", gate.Pass, "L-55"))
		Expect(t.Unknown).To(HaveLen(1))
		Expect(t.Unknown[0].ID).To(Equal("L-55"))
		Expect(t.Unknown[0].Proof.Name).To(Equal("loop/a"))
	})
})

// ginkgoFile returns a report file in Ginkgo's own format.
func ginkgoFile(suites ...types.Report) string {
	GinkgoHelper()
	text, err := json.MarshalIndent(suites, "", "  ")
	Expect(err).NotTo(HaveOccurred())
	return string(text)
}

var _ = Describe("the specs' report", Label("H-05"), func() {
	It("gives each spec the labels of its suite, its containers and its own", func() {
		got, err := FromSpecs(strings.NewReader(ginkgoFile(types.Report{
			SuiteLabels: []string{"H-08", "fast"},
			SpecReports: types.SpecReports{
				{LeafNodeType: types.NodeTypeBeforeSuite, LeafNodeLabels: []string{"L-01"}, State: types.SpecStatePassed},
				{
					LeafNodeType: types.NodeTypeIt, LeafNodeText: "stops", LeafNodeLabels: []string{"L-05"},
					ContainerHierarchyTexts: []string{"the loop", "", "when stuck"}, ContainerHierarchyLabels: [][]string{{"L-01", "slow"}, nil, {"L-05"}},
					State: types.SpecStateFailed,
				},
			},
		})))
		Expect(err).NotTo(HaveOccurred())
		Expect(got).To(Equal([]Proof{proof(Spec, "the loop when stuck stops", gate.Fail, "H-08", "L-01", "L-05")}))
	})
	DescribeTable("translates states", func(state types.SpecState, want gate.Verdict) {
		got, err := FromSpecs(strings.NewReader(ginkgoFile(types.Report{SpecReports: types.SpecReports{
			{LeafNodeType: types.NodeTypeIt, LeafNodeLabels: []string{"L-01"}, State: state},
		}})))
		Expect(err).NotTo(HaveOccurred())
		Expect(got).To(HaveLen(1))
		Expect(got[0].Verdict).To(Equal(want))
	},
		Entry("passed", types.SpecStatePassed, gate.Pass), Entry("failed", types.SpecStateFailed, gate.Fail),
		Entry("panicked", types.SpecStatePanicked, gate.Fail), Entry("timed out", types.SpecStateTimedout, gate.Fail),
		Entry("skipped", types.SpecStateSkipped, gate.Skip), Entry("pending", types.SpecStatePending, gate.Skip),
		Entry("interrupted", types.SpecStateInterrupted, gate.Error), Entry("aborted", types.SpecStateAborted, gate.Error),
		Entry("invalid", types.SpecStateInvalid, gate.Error))

	It("agrees with Ginkgo about labels and names", func() {
		words := rapid.SampledFrom([]string{"", "L-01", "G-05", "L-1", "slow", "a b", "é"})
		rapid.Check(GinkgoT(), func(t *rapid.T) {
			s := types.SpecReport{
				LeafNodeType: types.NodeTypeIt, LeafNodeText: words.Draw(t, "text"), State: types.SpecStatePassed,
				LeafNodeLabels:           rapid.SliceOf(words).Draw(t, "labels"),
				ContainerHierarchyTexts:  rapid.SliceOf(words).Draw(t, "texts"),
				ContainerHierarchyLabels: rapid.SliceOf(rapid.SliceOf(words)).Draw(t, "container labels"),
			}
			text, err := json.Marshal([]types.Report{{SpecReports: types.SpecReports{s}}})
			if err != nil {
				t.Fatal(err)
			}
			got, err := FromSpecs(bytes.NewReader(text))
			if err != nil {
				t.Fatal(err)
			}
			var ids []string
			for _, label := range s.Labels() {
				if label == "L-01" || label == "G-05" {
					ids = append(ids, label)
				}
			}
			if len(got) == 0 && len(ids) == 0 {
				return
			}
			if len(got) != 1 || got[0].Name != s.FullText() || len(got[0].IDs) != len(ids) {
				t.Fatalf("got %v, but Ginkgo has %q %v", got, s.FullText(), ids)
			}
		})
	})
	DescribeTable("is rejected if invalid, with the expected format", func(text string) {
		_, err := FromSpecs(strings.NewReader(text))
		Expect(err).To(MatchError(ContainSubstring("ginkgo --json-report")))
	},
		Entry("empty", ""), Entry("an object", "{}"), Entry("torn", `[{"SpecReports": [`), Entry("text", "ok"),
		Entry("trailing", "[] []"), Entry("wrong types", `[{"SpecReports": [{"State": 4}]}]`))
})

var _ = Describe("rendering", Label("H-05"), func() {
	sample := func() Table {
		proofs := []Proof{
			proof(Scenario, "loop/no-progress-after-three-identical-answers-in-a-row-of-ten-iterations", gate.Fail, "L-05", "L-07"),
			proof(Scenario, "evil \x1b[2J|`x`\n<b>", gate.Pass, "L-01"), proof(Spec, "skipped", gate.Skip, "L-03"),
			proof(Spec, "interrupted", gate.Error, "L-04"), proof(Scenario, "loop/typo", gate.Pass, "L-77"),
		}
		for _, name := range []string{"a", "b", "c", "d", "e"} {
			proofs = append(proofs, proof(Spec, "the loop "+name, gate.Pass, "L-02", "L-05"))
		}
		return tableOf(proofs...)
	}

	It("writes a table as wide as the terminal", func() {
		var out bytes.Buffer
		Expect(Terminal(&out, sample(), console.Terminal{})).To(Succeed())
		table, _, _ := strings.Cut(out.String(), "\n\n")
		for line := range strings.Lines(table) {
			Expect(console.Width(strings.TrimSuffix(line, "\n"))).To(BeNumerically("<=", 80), line)
		}
		golden.Expect("terminal.txt", out.Bytes())
	})
	It("shows unproven requirements in red", func() {
		var out bytes.Buffer
		Expect(Terminal(&out, sample(), console.Terminal{Width: 120, Color: true})).To(Succeed())
		Expect(out.String()).To(MatchRegexp(`L-11 +\x1b\[31mno proof\x1b\[0m`))
		Expect(out.String()).To(MatchRegexp(`L-02 +\x1b\[32mproven\x1b\[0m`))
		Expect(out.String()).To(MatchRegexp(`L-03 +\x1b\[33mskipped\x1b\[0m`))
	})
})
