package reports

import (
	"fmt"
	"math"
	"strings"

	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/internal/show"
)

// guardRates are the rates of stop guards that reports show, each with what it
// says. JSON and JUnit have all metrics.
var guardRates = []struct{ name, says, of string }{
	{"guard_prevented_rate", "premature stops prevented", "answers that defer"},
	{"guard_false_positive_rate", "false alarms", "answers that do not"},
	{"guard_false_negative_rate", "misses", "answers that defer"},
	{"guard_success_rate", "ended with an answer that may stop", "runs"},
}

// guardSummary is one line on what stop guards did.
func guardSummary(metrics []measure.Value) string {
	shown := func(name string) string { return text(find(metrics, name)) }
	return fmt.Sprintf("%s answers judged, %s refused, %s made to go on, %s of their steps done",
		shown("guard_judged"), shown("guard_refused"), shown("guard_forced_executions"), shown("guard_steps_executed"))
}

// terminalGuard writes what stop guards did; nothing if there was none.
func terminalGuard(b *strings.Builder, metrics []measure.Value) {
	if metrics == nil {
		return
	}
	fmt.Fprintf(b, "\nstop guard: %s\n", guardSummary(metrics))
	for _, r := range guardRates {
		fmt.Fprintf(b, "  %-36s %s\n", r.says, ofTotal(find(metrics, r.name)))
	}
}

// markdownGuard writes the same as a table.
func markdownGuard(b *show.Page, metrics []measure.Value) {
	if metrics == nil {
		return
	}
	var text strings.Builder
	text.WriteString("\n### Stop guard\n\n" + guardSummary(metrics) + "\n\n| | of | |\n|---|---|---|\n")
	for _, r := range guardRates {
		fmt.Fprintf(&text, "| %s | %s | %s |\n", r.says, r.of, ofTotal(find(metrics, r.name)))
	}
	b.Head(text.String())
}

// ofTotal is a rate as counts, share and interval: "12 of 12, 100 % [75.8, 100]".
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
