package experiments

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/rehearse-dev/rehearse/harness/experiment/result"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
)

// Marker is the hidden first line of the Markdown form, by which a later run finds its
// own comment and replaces it.
const Marker = "<!-- rehearse:experiment -->"

// defaultMaxBytes keeps Markdown below the 1 MiB that GitHub takes for the summary of a
// step.
const defaultMaxBytes = 1000 << 10

// Markdown writes the result for a reader: what decides first. What exceeds limit bytes
// (0: 1,000 KiB) is left out and counted. All text that is not ours stands in code
// spans, so that nothing in it is Markdown, HTML or a mention.
func Markdown(w io.Writer, r result.Result, limit int) error {
	p := format.Page{Left: cmp.Or(limit, defaultMaxBytes)}
	p.Head(Marker + "\n## Experiment " + code(r.Name) + "\n\n")
	tone, said := headline(&r)
	p.Head(fmt.Sprintf("**%s** %s\n", words[tone], code(said)))
	if r.About != "" {
		p.Head("\n" + code(r.About) + "\n")
	}
	var blocks []string
	for _, group := range byMeasure(&r) {
		blocks = append(blocks, markdownGroup(&r, group))
	}
	blocks = append(blocks, markdownVariants(&r), markdownPareto(&r), markdownTune(&r))
	format.Lines(&p, "tables", blocks, func(text string) string { return text })
	p.Head("\n### How\n\n")
	format.Lines(&p, "facts", facts(&r), func(f fact) string { return fmt.Sprintf("- %s: %s\n", f.Name, code(f.Value)) })
	if len(r.Warnings) > 0 {
		p.Head("\n### Warnings\n\n")
	}
	format.Lines(&p, "warnings", r.Warnings, func(text string) string { return "- " + code(text) + "\n" })
	format.Lines(&p, "settings", settings(&r), func(text string) string { return text })
	if _, err := io.WriteString(w, p.String()); err != nil {
		return fmt.Errorf("write the result of the experiment as Markdown: %w", err)
	}
	return nil
}

// words name tones.
var words = map[tone]string{good: "▲ Better.", bad: "▼ Worse.", same: "= Equivalent.", unclear: "? Undecided."}

func code(s string) string { return sanitize.Code(s, maxText) }

func markdownGroup(r *result.Result, list []*result.Comparison) string {
	title := "By " + code(list[0].Measure)
	if list[0].Role == result.Secondary {
		title += ", which explains and does not decide"
	}
	var rows [][]string
	for _, c := range list[:min(len(list), maxRows)] {
		why := []string{surely(r, c)}
		for _, s := range notes(c) {
			why = append(why, strings.TrimSuffix(s, "."))
		}
		rows = append(rows, []string{
			signs[known(c.Verdict)] + " " + string(known(c.Verdict)), code(c.Variant), code(c.Against), code(effect(r, c)), code(strings.Join(why, "; ")),
		})
	}
	return "\n### " + title + "\n" + format.Table(5, []string{"verdict", "variant", "against", "difference", "how surely"}, rows) + beyond(len(list))
}

// maxRows is how many rows a table of Markdown has.
const maxRows = 200

func beyond(n int) string {
	if n <= maxRows {
		return ""
	}
	return fmt.Sprintf("\nand %d more\n", n-maxRows)
}

func markdownVariants(r *result.Result) string {
	if len(r.Variants) == 0 {
		return ""
	}
	measures := shown(r)
	header := []string{"variant", "trials"}
	for _, m := range measures {
		header = append(header, code(head(m)))
	}
	var rows [][]string
	for _, x := range r.Variants[:min(len(r.Variants), maxRows)] {
		row := []string{code(x.Name), trials(x.Trials)}
		for _, m := range measures {
			u, v := unitsOf(r, m), find(x.Measures, m)
			row = append(row, strings.TrimSpace(u.value(v)+" "+u.interval(v, u.amount)))
		}
		rows = append(rows, row)
	}
	return "\n### Variants\n" + format.Table(1, header, rows) + beyond(len(r.Variants))
}

func markdownPareto(r *result.Result) string {
	if len(r.Pareto) < 2 {
		return ""
	}
	var rows [][]string
	for i := range r.Pareto[:min(len(r.Pareto), maxRows)] {
		p := &r.Pareto[i]
		u := unitsOf(r, p.Quality.Name)
		rows = append(rows, []string{code(p.Variant), units{unit: "EUR"}.value(p.Cost), u.value(p.Quality), code(front(p))})
	}
	return "\n### Cost and quality\n" + format.Table(1, []string{"variant", "cost of a trial", code(r.Pareto[0].Quality.Name), ""}, rows)
}

func markdownTune(r *result.Result) string {
	t := r.Tune
	if t == nil {
		return ""
	}
	u := unitsOf(r, r.Design.Primary.Name)
	var rows [][]string
	for i := range t.Rounds {
		for _, c := range t.Rounds[i].Candidates {
			rows = append(rows, []string{fmt.Sprint(i + 1), code(c.Name), strings.TrimSpace(u.value(c.Score) + " " + u.interval(c.Score, u.amount))})
		}
	}
	out := "\n### The search\n\n" + code(t.Why) + "\n" + format.Table(2, []string{"round", "candidate", "on the training scenarios"}, rows[:min(len(rows), maxRows)]) + beyond(len(rows))
	if t.Text != "" {
		out += "\nThe promoted text:\n\n" + code(t.Text) + "\n"
	}
	return out
}

// settings lists what the variants set.
func settings(r *result.Result) []string {
	var list []string
	for i := range r.Variants {
		for _, s := range r.Variants[i].Settings {
			if len(list) == 0 {
				list = append(list, "\n### Settings\n\n")
			}
			value := s.Value
			if s.File != "" {
				value = s.File + ": " + value
			}
			list = append(list, fmt.Sprintf("- %s: %s = %s\n", code(r.Variants[i].Name), code(s.Path), code(value)))
		}
	}
	return list
}
