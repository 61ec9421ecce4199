package trace_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"strings"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/internal/console"
	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/reports/doc"
	"github.com/rehearse-dev/rehearse/reports/trace"
	"github.com/rehearse-dev/rehearse/scenarios/requirement"
)

func TestTrace(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "reports/trace")
}

func proof(name string, v gate.Verdict, ids ...string) trace.Proof {
	return trace.Proof{Kind: "scenario", Name: name, Verdict: v, IDs: ids}
}

// tableOf joins proofs with a list of the ids A to F.
func tableOf(proofs ...trace.Proof) *trace.Table {
	list := &requirement.List{File: "list.csv", Requirements: []requirement.Requirement{
		{ID: "A", Text: "It answers", Link: "https://example.org/a"},
		{ID: "B", Text: `=HYPERLINK("https://evil.example")`},
		{ID: "C", Text: "Evil \x1b[2J|`x`\n<b>", Link: "javascript://example.org/%0aalert(1)"},
		{ID: "D", Text: "one; =cmd() ,\" -2"},
		{ID: "E"},
		{ID: "F", Link: "spec.docx §4"},
	}}
	return trace.Of(list, proofs)
}

// sample has a requirement of each status.
func sample() *trace.Table {
	return tableOf(
		proof("orders/refund", gate.Pass, "A", "B"), proof("orders/refund-of-an-order-that-was-never-delivered-to-anybody", gate.Fail, "B"),
		proof("orders/lost", gate.Error, "C"), proof("orders/live", gate.Skip, "A", "D"), proof("+orders/typo", gate.Pass, "AA", "-x"),
	)
}

var _ = DescribeTable("the status of a requirement from its proofs", Label("H-05"),
	func(want trace.Status, verdicts ...gate.Verdict) {
		var proofs []trace.Proof
		for i, v := range verdicts {
			proofs = append(proofs, proof(string(rune('a'+i)), v, "A"))
		}
		t := tableOf(proofs...)
		Expect(t.Requirements[0].Status).To(Equal(want))
		Expect(t.Requirements[0].Proofs).To(HaveLen(len(verdicts)))
		Expect(t.Totals).To(HaveKeyWithValue(want, BeNumerically(">=", 1)))
	},
	Entry("none", trace.Uncovered),
	Entry("a pass", trace.Proven, gate.Pass),
	Entry("a pass and a skip", trace.Proven, gate.Skip, gate.Pass),
	Entry("only skips", trace.Skipped, gate.Skip, gate.Skip),
	Entry("an error", trace.NoVerdict, gate.Pass, gate.Error),
	Entry("an unknown verdict", trace.NoVerdict, gate.Pass, gate.Verdict("green")),
	Entry("a failure", trace.Failing, gate.Pass, gate.Error, gate.Fail),
)

var _ = Describe("proofs", Label("H-05"), func() {
	It("count once, in any order and with any repetitions", func() {
		a, b := proof("a", gate.Pass, "A", "A"), proof("b", gate.Pass, "A")
		Expect(tableOf(a, b, a)).To(Equal(tableOf(b, a)))
		Expect(tableOf(a, a).Requirements[0].Proofs).To(HaveLen(1))
	})
	It("are reported with the unknown ids that they name", func() {
		t := tableOf(proof("a", gate.Pass, "Z", "A"), proof("b", gate.Fail, "Z"))
		Expect(t.Unknown).To(HaveLen(1))
		Expect(t.Unknown[0].ID).To(Equal("Z"))
		Expect(t.Unknown[0].Proofs).To(HaveLen(2))
		Expect(t.Totals[trace.Unknown]).To(Equal(1))
	})
	It("cover a list only if each requirement is proven", func() {
		Expect(tableOf(proof("a", gate.Pass, "A", "B", "C", "D", "E")).Covered()).To(BeFalse())
		Expect(tableOf(proof("a", gate.Pass, "A", "B", "C", "D", "E", "F")).Covered()).To(BeTrue())
		Expect(tableOf(proof("a", gate.Pass, "A", "B", "C", "D", "E", "F"), proof("b", gate.Fail, "F")).Covered()).To(BeFalse())
	})
})

var _ = Describe("the forms of a table", Label("H-05"), func() {
	DescribeTable("are as before", func(name string, render func(*bytes.Buffer) error) {
		var out bytes.Buffer
		Expect(render(&out)).To(Succeed())
		golden.Expect(name, out.Bytes())
	},
		Entry("for a terminal", "terminal.txt", func(w *bytes.Buffer) error { return doc.Terminal(w, sample().Document(), console.Terminal{Width: 80}) }),
		Entry("Markdown", "table.md", func(w *bytes.Buffer) error { return doc.Markdown(w, sample().Document(", run 1"), 0) }),
		Entry("CSV", "table.csv", func(w *bytes.Buffer) error { return sample().CSV(w) }),
		Entry("JSON", "table.json", func(w *bytes.Buffer) error {
			e := json.NewEncoder(w)
			e.SetIndent("", "  ")
			return e.Encode(sample())
		}),
	)
	It("link only addresses of the web, and show all requirements, in HTML", func() {
		list := &requirement.List{File: "list.csv"}
		for i := range 5000 {
			list.Requirements = append(list.Requirements, requirement.Requirement{ID: strings.Repeat("x", i%60+1) + string(rune('a'+i%26)), Text: "<script>"})
		}
		list.Requirements = append(list.Requirements, sample().Requirements[0].Requirement, sample().Requirements[2].Requirement)
		var out bytes.Buffer
		Expect(doc.HTML(&out, trace.Of(list, nil).Document(), "rehearse")).To(Succeed())
		page := out.String()
		Expect(page).To(ContainSubstring(`<a href="https://example.org/a" rel="noreferrer">`))
		Expect(page).NotTo(Or(ContainSubstring(`href="javascript`), ContainSubstring("<td><bdi><script>")))
		Expect(strings.Count(page, `<th scope="row">`)).To(Equal(5002))
	})
	It("have no cell that a spreadsheet computes, whichever separator it takes", func() {
		var out bytes.Buffer
		Expect(sample().CSV(&out)).To(Succeed())
		for _, comma := range []rune{',', ';', '\t'} {
			r := csv.NewReader(bytes.NewReader(out.Bytes()))
			r.Comma, r.LazyQuotes, r.FieldsPerRecord = comma, true, -1
			rows, err := r.ReadAll()
			Expect(err).NotTo(HaveOccurred())
			for _, row := range rows {
				for _, cell := range row {
					Expect(strings.TrimSpace(cell)).NotTo(MatchRegexp(`^[=+@-]`))
				}
			}
		}
	})
})
