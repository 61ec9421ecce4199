package detection_test

import (
	"bytes"
	"encoding/json"
	"errors"
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
	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/internal/tty"
	"github.com/rehearse-dev/rehearse/reports/detection"
	"github.com/rehearse-dev/rehearse/reports/doc"
)

type renderer = func(io.Writer, detection.Report, options) error

// options are how a test renders.
type options struct {
	terminal tty.Terminal
	errors   int
	maxBytes int
}

func asJSON(w io.Writer, r detection.Report, _ options) error { return detection.JSON(w, r) }

func terminal(w io.Writer, r detection.Report, o options) error {
	return doc.Terminal(w, detection.Document(r, o.errors), o.terminal)
}

func markdown(w io.Writer, r detection.Report, o options) error {
	return doc.Markdown(w, detection.Document(r, o.errors), o.maxBytes)
}

func render(f renderer, r detection.Report, o options) string {
	GinkgoHelper()
	var out bytes.Buffer
	Expect(f(&out, r, o)).To(Succeed())
	return out.String()
}

var _ = Describe("the report of detectors", func() {
	DescribeTable("looks as it did",
		func(file string, f renderer, o options) {
			golden.Expect(file, []byte(render(f, sample(), o)))
		},
		Entry("JSON", "report.json", asJSON, options{}),
		Entry("Markdown", "report.md", markdown, options{}),
		Entry("terminal", "terminal.txt", terminal, options{}),
		Entry("terminal with colours and one error", "colors.txt", terminal,
			options{errors: 1, terminal: tty.Terminal{Width: 120, Color: true}}),
	)

	It("comes back from JSON as it was", func() {
		r := sample()
		var back detection.Report
		Expect(json.Unmarshal([]byte(render(asJSON, r, options{})), &back)).To(Succeed())
		r.Schema = detection.Schema
		Expect(back).To(Equal(r))
	})

	It("has empty lists rather than null where nothing was done", func() {
		Expect(render(asJSON, detection.Report{}, options{})).To(MatchJSON(`{
			"schema": "rehearse.detection/1", "corpora": [], "interrupted": false,
			"problems": [], "detectors": [], "comparisons": []}`))
	})

	It("never shows 0 of 0 as a number", func() {
		r := report(answers()[6:11], "guard", "naive") // nothing to find, and nothing found
		for _, out := range []string{render(terminal, r, options{}), render(markdown, r, options{})} {
			for _, name := range []string{"precision", "recall", "F1"} {
				Expect(out).To(MatchRegexp(`(?m)^(\| )?%s[ |]+n/a`, name))
			}
			Expect(out).To(ContainSubstring("p = 1\n"))
		}
	})

	It("shows tables of at most 80 columns, of 100,000 items, too", func() {
		r := sample()
		big := detect.Counts{TP: 14000, FP: 1234, FN: 2345, TN: 82421}
		r.Detectors[0].Overall.Counts = big
		for _, d := range r.Detectors[0].Groups {
			for i := range d.Groups {
				d.Groups[i].Counts = big
				d.Groups[i].Name = "organisation/a-repository-with-a-long-name"
			}
		}
		for line := range strings.Lines(render(terminal, r, options{errors: -1, terminal: tty.Terminal{Width: 80}})) {
			Expect(tty.Width(strings.TrimRight(line, "\n"))).To(BeNumerically("<=", 80), line)
		}
	})

	It("draws the curve", func() {
		out := render(terminal, sample(), options{})
		// All five are found from 0.31 down, four of the six found from 0.52 down.
		Expect(out).To(MatchRegexp(`recall +█{16}▇{11}`))
		Expect(out).To(ContainSubstring("best F1 0.833 from threshold 0.310 on"))
	})

	It("shows the largest of many groups, and counts the others", func() {
		r := sample()
		d := detect.Dimension{By: "repository"}
		for i := range 50 {
			g := detect.Group{Name: fmt.Sprintf("repo-%02d", i)}
			g.TN = i + 1
			d.Groups = append(d.Groups, g)
		}
		r.Detectors[0].Groups = []detect.Dimension{d}
		onTerminal, inMarkdown := render(terminal, r, options{}), render(markdown, r, options{})
		Expect(onTerminal).To(And(ContainSubstring("repo-49"), ContainSubstring("repo-30"), Not(ContainSubstring("repo-29")), ContainSubstring("and 30 more smaller groups")))
		Expect(inMarkdown).To(And(ContainSubstring("`repo-49`"), ContainSubstring("`repo-00`")))
	})

	It("says what calls cost, if that is known, and what was left out", func() {
		r := sample()
		d := &r.Detectors[0]
		d.Curve.Missing, d.Classes.Unknown = 2, 1
		for want, c := range map[string]detect.Cost{
			"12 calls, 0.340 EUR":          {Calls: 12, EUR: 0.34, Known: true},
			"12 calls, at least 0.100 EUR": {Calls: 12, EUR: 0.1},
			"1 call, unknown EUR":          {Calls: 1},
		} {
			d.Cost = &c
			for _, f := range []renderer{terminal, markdown} {
				out := strings.Join(strings.Fields(render(f, r, options{})), " ")
				Expect(out).To(ContainSubstring(want))
				Expect(out).To(ContainSubstring("2 of 13 without a score"))
				Expect(out).To(ContainSubstring("1 answer of no known class left out"))
			}
		}
	})

	It("says that it was interrupted", func() {
		r := sample()
		r.Interrupted = true
		Expect(render(terminal, r, options{})).To(ContainSubstring("interrupted"))
		Expect(render(markdown, r, options{})).To(ContainSubstring("**INTERRUPTED**"))
	})

	DescribeTable("shows as many errors as it is told",
		func(limit int, positives, negatives string) {
			out := render(terminal, sample(), options{errors: limit})
			Expect(strings.Contains(out, positives)).To(BeTrue(), out)
			Expect(strings.Count(out, "missed step:")).To(Equal(len(negatives)))
		},
		Entry("all", 0, "guard:balanced: 1 false positive\n", "1234"),
		Entry("one of each kind", 1, "naive: 3 false negatives, 1 shown\n", "12"),
	)

	It("shows no errors if it is told so", func() {
		Expect(render(terminal, sample(), options{errors: -1})).NotTo(ContainSubstring("m06"))
	})

	It("bounds Markdown and says what is missing", func() {
		r := sample()
		for range 2000 {
			r.Detectors[0].FalsePositives = append(r.Detectors[0].FalsePositives, r.Detectors[0].FalsePositives[0])
		}
		r.Detectors[0].Overall.FP = 2001
		out := render(markdown, r, options{maxBytes: 20_000})
		Expect(len(out)).To(BeNumerically("<=", 20_000))
		Expect(out).To(MatchRegexp(`… and \d+ more false positives`))
		Expect(out).To(ContainSubstring("### B `guard:balanced` against A `naive`"))
	})

	DescribeTable("names an error of writing",
		func(f renderer) {
			err := f(failing{}, sample(), options{})
			Expect(err).To(MatchError(errFull))
			Expect(err).To(MatchError(ContainSubstring("write the ")))
		},
		Entry("JSON", asJSON),
		Entry("Markdown", markdown),
		Entry("terminal", terminal),
	)
})

var errFull = errors.New("no space left")

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errFull }

var _ = Describe("hostile text", func() {
	It("never reaches the terminal as control characters", func() {
		out := render(terminal, hostile(), options{})
		Expect(utf8.ValidString(out)).To(BeTrue())
		for _, r := range out {
			Expect(unicode.IsGraphic(r) || r == '\n').To(BeTrue(), fmt.Sprintf("%q", r))
		}
	})

	// The structure of Markdown is that of the same report with harmless text: as
	// many headings, tables, rows, cells and items, and no HTML but our marker.
	It("never changes the structure of Markdown", func() {
		harmless := hostileWith("harmless")
		nasty := structure(render(markdown, hostile(), options{}))
		Expect(nasty).To(Equal(structure(render(markdown, harmless, options{}))))
		Expect(nasty["RawHTML"]).To(BeZero())
		Expect(nasty["Image"] + nasty["Link"] + nasty["AutoLink"]).To(BeZero())
		Expect(nasty["Emphasis"]).To(Equal(2), "those of the bad line and of what could not be judged")
		Expect(nasty["TableRow"]).To(BeNumerically(">", 10))
	})
})

// hostileWith is the hostile report with another text in the place of the evil.
func hostileWith(text string) detection.Report {
	GinkgoHelper()
	var encoded bytes.Buffer
	Expect(detection.JSON(&encoded, hostile())).To(Succeed())
	var r any
	Expect(json.Unmarshal(encoded.Bytes(), &r)).To(Succeed())
	calm, err := json.Marshal(calmed(r, text))
	Expect(err).NotTo(HaveOccurred())
	var back detection.Report
	Expect(json.Unmarshal(calm, &back)).To(Succeed())
	return back
}

// calmed replaces each string that came from evil.
func calmed(v any, text string) any {
	switch v := v.(type) {
	case string:
		if strings.ContainsAny(v, "\x1b`|<#") {
			return text
		}
	case []any:
		for i := range v {
			v[i] = calmed(v[i], text)
		}
	case map[string]any:
		for k := range v {
			v[k] = calmed(v[k], text)
		}
	}
	return v
}

// structure counts the nodes of a Markdown document by kind, text and code aside.
func structure(markdown string) map[string]int {
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
