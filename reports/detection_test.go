package reports_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extensionast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"

	"github.com/rehearse-dev/rehearse/harness/detect"
	"github.com/rehearse-dev/rehearse/internal/console"
	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/doc"
)

type detectionRenderer = func(io.Writer, reports.Detection, detectionOptions) error

// detectionOptions are how a test renders.
type detectionOptions struct {
	terminal console.Terminal
	errors   int
	maxBytes int
}

func detectionJSON(w io.Writer, r reports.Detection, _ detectionOptions) error {
	return reports.JSON(w, r)
}

func detectionTerminal(w io.Writer, r reports.Detection, o detectionOptions) error {
	return doc.Terminal(w, reports.DetectionDocument(r, o.errors), o.terminal)
}

func detectionMarkdown(w io.Writer, r reports.Detection, o detectionOptions) error {
	return doc.Markdown(w, reports.DetectionDocument(r, o.errors), o.maxBytes)
}

func renderDetection(f detectionRenderer, r reports.Detection, o detectionOptions) string {
	GinkgoHelper()
	var out bytes.Buffer
	Expect(f(&out, r, o)).To(Succeed())
	return out.String()
}

var _ = Describe("the report of detectors", func() {
	DescribeTable("looks as it did",
		func(file string, f detectionRenderer, o detectionOptions) {
			golden.Expect("detection/"+file, []byte(renderDetection(f, sampleDetection(), o)))
		},
		Entry("JSON", "report.json", detectionJSON, detectionOptions{}),
		Entry("Markdown", "report.md", detectionMarkdown, detectionOptions{}),
		Entry("terminal", "terminal.txt", detectionTerminal, detectionOptions{}),
		Entry("terminal with colours and one error", "colors.txt", detectionTerminal,
			detectionOptions{errors: 1, terminal: console.Terminal{Width: 120, Color: true}}),
	)

	It("survives a JSON round trip", func() {
		r := sampleDetection()
		var back reports.Detection
		Expect(json.Unmarshal([]byte(renderDetection(detectionJSON, r, detectionOptions{})), &back)).To(Succeed())
		r.Schema = reports.DetectionSchema
		Expect(back).To(Equal(r))
	})

	It("has empty lists rather than null where nothing was done", func() {
		Expect(renderDetection(detectionJSON, reports.Detection{}, detectionOptions{})).To(MatchJSON(`{
			"schema": "rehearse.detection/1", "corpora": [], "interrupted": false,
			"problems": [], "detectors": [], "comparisons": []}`))
	})

	It("never shows 0 of 0 as a number", func() {
		r := detectionOf(answers()[6:11], "guard", "naive") // nothing to find, and nothing found
		for _, out := range []string{renderDetection(detectionTerminal, r, detectionOptions{}), renderDetection(detectionMarkdown, r, detectionOptions{})} {
			for _, name := range []string{"precision", "recall", "F1"} {
				Expect(out).To(MatchRegexp(`(?m)^(\| )?%s[ |]+n/a`, name))
			}
			Expect(out).To(ContainSubstring("p = 1\n"))
		}
	})

	It("shows tables of at most 80 columns, of 100,000 items, too", func() {
		r := sampleDetection()
		big := detect.Counts{TP: 14000, FP: 1234, FN: 2345, TN: 82421}
		r.Detectors[0].Overall.Counts = big
		for _, d := range r.Detectors[0].Groups {
			for i := range d.Groups {
				d.Groups[i].Counts = big
				d.Groups[i].Name = "organisation/a-repository-with-a-long-name"
			}
		}
		for line := range strings.Lines(renderDetection(detectionTerminal, r, detectionOptions{errors: -1, terminal: console.Terminal{Width: 80}})) {
			Expect(console.Width(strings.TrimRight(line, "\n"))).To(BeNumerically("<=", 80), line)
		}
	})

	It("draws the curve", func() {
		out := renderDetection(detectionTerminal, sampleDetection(), detectionOptions{})
		// All five are found from 0.31 down, four of the six found from 0.52 down.
		Expect(out).To(MatchRegexp(`recall +█{16}▇{11}`))
		Expect(out).To(ContainSubstring("best F1 0.833 from threshold 0.310 on"))
	})

	It("shows the largest of many groups, and counts the others", func() {
		r := sampleDetection()
		d := detect.Dimension{By: "repository"}
		for i := range 50 {
			g := detect.Group{Name: fmt.Sprintf("repo-%02d", i)}
			g.TN = i + 1
			d.Groups = append(d.Groups, g)
		}
		r.Detectors[0].Groups = []detect.Dimension{d}
		onTerminal, inMarkdown := renderDetection(detectionTerminal, r, detectionOptions{}), renderDetection(detectionMarkdown, r, detectionOptions{})
		Expect(onTerminal).To(And(ContainSubstring("repo-49"), ContainSubstring("repo-30"), Not(ContainSubstring("repo-29")), ContainSubstring("and 30 more smaller groups")))
		Expect(inMarkdown).To(And(ContainSubstring("`repo-49`"), ContainSubstring("`repo-00`")))
	})

	It("reports the cost of calls, if known, and what was left out", func() {
		r := sampleDetection()
		d := &r.Detectors[0]
		d.Curve.Missing, d.Classes.Unknown = 2, 1
		for want, c := range map[string]detect.Cost{
			"12 calls, 0.340 EUR":          {Calls: 12, EUR: 0.34, Known: true},
			"12 calls, at least 0.100 EUR": {Calls: 12, EUR: 0.1},
			"1 call, unknown EUR":          {Calls: 1},
		} {
			d.Cost = &c
			for _, f := range []detectionRenderer{detectionTerminal, detectionMarkdown} {
				out := strings.Join(strings.Fields(renderDetection(f, r, detectionOptions{})), " ")
				Expect(out).To(ContainSubstring(want))
				Expect(out).To(ContainSubstring("2 of 13 without a score"))
				Expect(out).To(ContainSubstring("1 answer of no known class left out"))
			}
		}
	})

	It("reports an interruption", func() {
		r := sampleDetection()
		r.Interrupted = true
		Expect(renderDetection(detectionTerminal, r, detectionOptions{})).To(ContainSubstring("interrupted"))
		Expect(renderDetection(detectionMarkdown, r, detectionOptions{})).To(ContainSubstring("**INTERRUPTED**"))
	})

	DescribeTable("limits the number of errors shown",
		func(limit int, positives, negatives string) {
			out := renderDetection(detectionTerminal, sampleDetection(), detectionOptions{errors: limit})
			Expect(strings.Contains(out, positives)).To(BeTrue(), out)
			Expect(strings.Count(out, "missed step:")).To(Equal(len(negatives)))
		},
		Entry("all", 0, "guard:balanced: 1 false positive\n", "1234"),
		Entry("one of each kind", 1, "naive: 3 false negatives, 1 shown\n", "12"),
	)

	It("shows no mistakes on request", func() {
		Expect(renderDetection(detectionTerminal, sampleDetection(), detectionOptions{errors: -1})).NotTo(ContainSubstring("m06"))
	})

	It("limits the size of Markdown, with a note on the omitted part", func() {
		r := sampleDetection()
		for range 2000 {
			r.Detectors[0].FalsePositives = append(r.Detectors[0].FalsePositives, r.Detectors[0].FalsePositives[0])
		}
		r.Detectors[0].Overall.FP = 2001
		out := renderDetection(detectionMarkdown, r, detectionOptions{maxBytes: 20_000})
		Expect(len(out)).To(BeNumerically("<=", 20_000))
		Expect(out).To(MatchRegexp(`… and \d+ more false positives`))
		Expect(out).To(ContainSubstring("### B `guard:balanced` against A `naive`"))
	})
})

var _ = Describe("hostile text", func() {
	It("never reaches the terminal as control characters", func() {
		out := renderDetection(detectionTerminal, hostileDetection(), detectionOptions{})
		Expect(utf8.ValidString(out)).To(BeTrue())
		for _, r := range out {
			Expect(unicode.IsGraphic(r) || r == '\n').To(BeTrue(), fmt.Sprintf("%q", r))
		}
	})

	// The structure of Markdown is that of the same report with harmless text: as
	// many headings, tables, rows, cells and items, and no HTML but our marker.
	It("never changes the structure of Markdown", func() {
		harmless := hostileDetectionWith("harmless")
		nasty := markdownStructure(renderDetection(detectionMarkdown, hostileDetection(), detectionOptions{}))
		Expect(nasty).To(Equal(markdownStructure(renderDetection(detectionMarkdown, harmless, detectionOptions{}))))
		Expect(nasty["RawHTML"]).To(BeZero())
		Expect(nasty["Image"] + nasty["Link"] + nasty["AutoLink"]).To(BeZero())
		Expect(nasty["Emphasis"]).To(Equal(2), "those of the bad line and of what could not be judged")
		Expect(nasty["TableRow"]).To(BeNumerically(">", 10))
	})
})

// hostileDetectionWith is the hostile report with another text in the place of the evilText.
func hostileDetectionWith(text string) reports.Detection {
	GinkgoHelper()
	var encoded bytes.Buffer
	Expect(reports.JSON(&encoded, hostileDetection())).To(Succeed())
	var r any
	Expect(json.Unmarshal(encoded.Bytes(), &r)).To(Succeed())
	calm, err := json.Marshal(withoutHostileText(r, text))
	Expect(err).NotTo(HaveOccurred())
	var back reports.Detection
	Expect(json.Unmarshal(calm, &back)).To(Succeed())
	return back
}

// withoutHostileText replaces each string that came from evilText.
func withoutHostileText(v any, text string) any {
	switch v := v.(type) {
	case string:
		if strings.ContainsAny(v, "\x1b`|<#") {
			return text
		}
	case []any:
		for i := range v {
			v[i] = withoutHostileText(v[i], text)
		}
	case map[string]any:
		for k := range v {
			v[k] = withoutHostileText(v[k], text)
		}
	}
	return v
}

// markdownStructure counts the nodes of a Markdown document by kind, text and code aside.
func markdownStructure(markdown string) map[string]int {
	source := []byte(markdown)
	doc := goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser().Parse(text.NewReader(source))
	counts := map[string]int{}
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering && n.Kind() != ast.KindText && n.Kind() != ast.KindCodeSpan {
			counts[n.Kind().String()]++
		}
		if n.Kind() == extensionast.KindTableCell {
			counts["cells"]++
		}
		return ast.WalkContinue, nil
	})
	return counts
}
