package detection

import (
	"cmp"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/rehearse-dev/rehearse/harness/detect/score"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
)

// Marker is the hidden first line of the Markdown form, by which a later run finds
// its own comment and replaces it.
const Marker = "<!-- rehearse:detection -->"

// defaultMaxBytes keeps Markdown below the 1 MiB that GitHub takes for the
// summary of a step.
const defaultMaxBytes = 1000 << 10

// Markdown writes the scores for a reader: the figures of each detector, the
// comparisons, then the errors, of which those that exceed opts.MaxBytes are left
// out and counted. All text that is not ours stands in code spans, so that nothing
// in it is Markdown, HTML or a mention.
func Markdown(w io.Writer, r Report, opts Options) error {
	p := format.Page{Left: cmp.Or(opts.MaxBytes, defaultMaxBytes)}
	p.Head(Marker + "\n## Detection\n\n")
	if r.Interrupted {
		p.Head("**Interrupted**: not all was read.\n\n")
	}
	format.Lines(&p, "corpora", r.Corpora, markdownCorpus)
	if len(r.Problems) > 0 {
		p.Head("\n### Problems of the corpora\n\n")
	}
	format.Lines(&p, "problems", r.Problems, func(text string) string { return "- " + sanitize.Code(text, maxText) + "\n" })
	var blocks []string
	for i := range r.Detectors {
		blocks = append(blocks, markdownDetector(r.Detectors[i])...)
	}
	for _, c := range r.Comparisons {
		blocks = append(blocks, markdownComparison(c))
	}
	format.Lines(&p, "tables", blocks, func(text string) string { return text })
	for i := range r.Detectors {
		for _, k := range mistakes(r.Detectors[i]) {
			if list := opts.listed(k.list); len(list) > 0 {
				p.Head(fmt.Sprintf("\n### %s: %s\n\n", sanitize.Code(r.Detectors[i].Detector, maxName), k.heading(len(list))))
				format.Lines(&p, k.name, list, markdownMistake)
			}
		}
	}
	if _, err := io.WriteString(w, p.String()); err != nil {
		return fmt.Errorf("write the scores as Markdown: %w", err)
	}
	return nil
}

func markdownCorpus(c Corpus) string {
	text := fmt.Sprintf("- %s: %s", sanitize.Code(c.Name, maxText), format.Plural(c.Items, "item"))
	if c.Bad > 0 {
		text += fmt.Sprintf(", **%s**", format.Plural(c.Bad, "bad line"))
	}
	return text + "\n"
}

// markdownDetector is a list of blocks, the most important first.
func markdownDetector(r score.Result) []string {
	head := fmt.Sprintf("\n### %s on %s, to find %s\n", sanitize.Code(r.Detector, maxName), judged(r), sanitize.Code(positive(r), 0))
	for i, f := range r.Failures[:min(len(r.Failures), maxShown)] {
		if i == 0 {
			head += "\n"
		}
		head += fmt.Sprintf("- could not be judged: %s %s\n", sanitize.Code(f.ID, maxName), sanitize.Code(f.Error, maxText))
	}
	c := r.Overall.Counts
	head += format.Table(1, []string{"", "found", "not found"}, [][]string{
		{sanitize.Code(positive(r), 0), strconv.Itoa(c.TP), strconv.Itoa(c.FN)},
		{"others", strconv.Itoa(c.FP), strconv.Itoa(c.TN)},
	})
	var rows [][]string
	for _, x := range rates(r.Overall) {
		rows = append(rows, []string{x.name, figure(x.value.Value), between(x.value, figure), fmt.Sprintf("%d %s", x.value.N, x.of), method(x.value)})
	}
	head += format.Table(1, []string{"", "value", interval, "of", "by"}, rows)
	if r.Latency != nil {
		head += "\n" + speed(r.Latency) + "\n"
	}
	if r.Cost != nil {
		head += "\n" + paid(r.Cost) + "\n"
	}
	blocks := []string{head}
	for _, d := range dimensions(r) {
		blocks = append(blocks, markdownGroups(d))
	}
	if len(r.Categories) > 0 {
		blocks = append(blocks, markdownGroups(score.Dimension{By: "named category", Groups: r.Categories}))
	}
	return append(blocks, markdownClasses(r.Classes), markdownMatches("steps", r.Steps),
		markdownMatches("spans", r.Spans), markdownCurve(r.Curve))
}

func markdownGroups(d score.Dimension) string {
	groups, left := byWeight(d, 40)
	var rows [][]string
	for _, g := range groups {
		rows = append(rows, append(append([]string{sanitize.Code(g.Name, maxName)}, counts(g.Counts)...),
			brief(g.Precision), brief(g.Recall), brief(g.F1), brief(g.FPR)))
	}
	text := format.Table(1, []string{"by " + d.By, "TP", "FP", "FN", "TN", "precision", "recall", "F1", "FPR"}, rows)
	if left > 0 {
		text += fmt.Sprintf("\nand %s\n", format.Plural(left, "smaller group"))
	}
	return text
}

func markdownClasses(c *score.Classes) string {
	if c == nil {
		return ""
	}
	var rows [][]string
	for i, label := range c.Labels {
		row := []string{sanitize.Code(label, maxName)}
		for _, n := range c.Counts[i] {
			row = append(row, strconv.Itoa(n))
		}
		rows = append(rows, row)
	}
	text := format.Table(1, append([]string{"label, then detected"}, c.Labels...), rows)
	text += fmt.Sprintf("\nAgreement %s, Cohen's kappa %s.", brief(c.Agreement), brief(c.Kappa))
	if c.Unknown > 0 {
		text += fmt.Sprintf(" %s of no known class left out.", format.Plural(c.Unknown, "answer"))
	}
	return text + "\n"
}

func markdownMatches(what string, list []score.Match) string {
	if len(list) == 0 {
		return ""
	}
	var rows [][]string
	for _, m := range list {
		for _, f := range both(m) {
			rows = append(rows, []string{
				m.Scope, f.by, strconv.Itoa(m.Items), strconv.Itoa(f.TP), strconv.Itoa(f.FP), strconv.Itoa(f.FN),
				brief(f.Precision), brief(f.Recall), brief(f.F1),
			})
		}
	}
	return format.Table(2, []string{what + " of", "match", "items", "TP", "FP", "FN", "precision", "recall", "F1"}, rows)
}

// markdownCurve shows the curve at every twentieth.
func markdownCurve(c *score.Curve) string {
	if c == nil {
		return ""
	}
	const parts = 20
	var rows [][]string
	for i := range parts + 1 {
		t := float64(i) / parts
		p := at(c, t)
		rows = append(rows, []string{fmt.Sprintf("%.2f", t), figure(p.Precision), figure(p.Recall), figure(p.F1), figure(p.FPR)})
	}
	return format.Table(0, []string{"threshold", "precision", "recall", "F1", "FPR"}, rows) + "\n" + summary(c) + "\n"
}

func markdownComparison(c score.Comparison) string {
	text := fmt.Sprintf("\n### B %s against A %s on %s\n", sanitize.Code(c.B, maxName), sanitize.Code(c.A, maxName), format.Plural(c.N, "item"))
	text += format.Table(1, []string{"", "B right", "B wrong"}, [][]string{
		{"A right", strconv.Itoa(c.Both), strconv.Itoa(c.OnlyA)},
		{"A wrong", strconv.Itoa(c.OnlyB), strconv.Itoa(c.Neither)},
	})
	var rows [][]string
	for _, d := range differences(c) {
		rows = append(rows, []string{d.name, signed(d.value.Value), between(d.value, signed), method(d.value)})
	}
	text += "\nExact McNemar test: p " + strings.ReplaceAll(equals(chance(c.P)), "<", "&lt;") + "\n"
	return text + format.Table(1, []string{"B - A", "value", interval, "by"}, rows)
}

func markdownMistake(m score.Mistake) string {
	var b strings.Builder
	fmt.Fprintf(&b, "- %s %s\n", sanitize.Code(m.ID, maxName), sanitize.Code(verdicts(m), maxText))
	for _, d := range details(m) {
		for _, text := range d.texts {
			fmt.Fprintf(&b, "  - %s: %s\n", d.name, sanitize.Code(text, 0))
		}
	}
	return b.String()
}
