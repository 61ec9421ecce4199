package reports

import (
	"fmt"
	"math"
	"strings"

	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/internal/format"
)

// Section shows the metrics of one extension.
type Section struct {
	Title, Summary string
	Rates          []Rate
}

// Rate is a share with its counts and interval, such as "12 of 12, 100 % [75.8, 100]".
type Rate struct{ Label, Of, Value string }

// Sections returns a section for each extension that there are metrics of, in their order.
func Sections(agents measure.AgentMetrics) []Section {
	all := make([]Section, len(agents))
	for i := range agents {
		from, values := &agents[i].Section, agents[i].Values
		counts := make([]any, len(from.Counts))
		for j, name := range from.Counts {
			counts[j] = text(find(values, name))
		}
		all[i] = Section{Title: from.Title, Summary: fmt.Sprintf(from.Sentence, counts...)}
		for _, r := range from.Rates {
			all[i].Rates = append(all[i].Rates, Rate{r.Label, r.Of, ofTotal(find(values, r.Metric))})
		}
	}
	return all
}

func (s *Section) terminal(b *strings.Builder) {
	fmt.Fprintf(b, "\n%s: %s\n", strings.ToLower(s.Title), s.Summary)
	for _, r := range s.Rates {
		fmt.Fprintf(b, "  %-36s %s\n", r.Label, r.Value)
	}
}

func (s *Section) markdown(b *format.Page) {
	var text strings.Builder
	text.WriteString("\n### " + s.Title + "\n\n" + s.Summary + "\n\n| | of | |\n|---|---|---|\n")
	for _, r := range s.Rates {
		fmt.Fprintf(&text, "| %s | %s | %s |\n", r.Label, r.Of, r.Value)
	}
	b.Head(text.String())
}

// ofTotal formats a rate as counts, share and interval: "12 of 12, 100 % [75.8, 100]".
func ofTotal(v measure.Value) string {
	if !told(v) {
		return text(v)
	}
	line := fmt.Sprintf("%.0f of %d, %s %%", math.Round(*v.Value*float64(v.N)), v.N, percent(*v.Value))
	if in := v.Interval; in != nil {
		line += fmt.Sprintf(" [%s, %s]", percent(in.Lo), percent(in.Hi))
	}
	return line
}

// percent has one decimal where it is not whole.
func percent(share float64) string {
	return strings.TrimSuffix(fmt.Sprintf("%.1f", 100*share), ".0")
}
