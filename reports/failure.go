package reports

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/reports/doc"
)

// findingItems returns an item for each scenario.
func findingItems(list []Scenario) []doc.Item {
	var items []doc.Item
	for _, s := range list {
		items = append(items, s.findingItem())
	}
	return items
}

// findingItem returns the block of a scenario: where it is, its findings with the root cause first,
// its last call, the output of its agent, and the command that runs it again.
func (s Scenario) findingItem() doc.Item {
	item := doc.Item{Text: doc.Line(doc.Toned(verdictTone(s.Verdict), s.verdict()), " ", doc.Quote(s.Name).In(doc.Strong))}
	if s.File != "" {
		item.Text = append(item.Text, doc.Line(" ", doc.Quote(s.place()).In(doc.Faint))...)
	}
	if s.About != "" {
		item.Items = append(item.Items, doc.Item{Text: doc.Line(doc.Quote(s.About).In(doc.Faint))})
	}
	shown := ""
	found, more := folded(s.effective())
	for i, f := range found {
		finding := s.finding(f)
		if more[i] > 0 {
			finding.Items = append(finding.Items, doc.Item{Text: doc.Line("and in ", format.Count(more[i], "other trial"))})
		}
		item.Items = append(item.Items, finding)
		shown += f.Evidence
	}
	if s.MoreFindings > 0 {
		item.Items = append(item.Items, doc.Item{Text: doc.Line("and ", format.Count(s.MoreFindings, "more finding"))})
	}
	if !failed(s.Verdict) {
		return item
	}
	if s.LastCall != nil {
		item.Items = append(item.Items, lastCallItem(s.LastCall, shown))
	}
	if log := strings.TrimSpace(s.Log); log != "" && !strings.Contains(shown, endOf(log)) {
		item.Items = append(item.Items, doc.Item{Text: doc.Line("output of the agent"), Evidence: log})
	}
	item.Items = append(item.Items, doc.Item{Text: doc.Line("run again: ", doc.Command(Rerun(s)))})
	return item
}

// folded returns each finding once, with the number of the other trials that it was seen in.
func folded(list []gate.Finding) (found []gate.Finding, more []int) {
	at := map[gate.Finding]int{}
	for _, f := range list {
		key := f
		key.Trial = 0
		if i, known := at[key]; known && f.Trial > 0 {
			more[i]++
			continue
		}
		at[key] = len(found)
		found, more = append(found, f), append(more, 0)
	}
	return found, more
}

// finding returns an item with the difference between the expected and the actual value, or else
// the evidence.
func (s Scenario) finding(f gate.Finding) doc.Item {
	item := doc.Item{Text: doc.Line(doc.Quote(f.Rule), ": ", s.where(f), doc.Quote(f.Message))}
	if item.Diff = doc.NewDiff("expected", "actual", f.Expected, f.Actual); len(item.Diff.Lines) == 0 {
		item.Evidence = f.Evidence
	}
	if f.Accept != "" {
		item.Items = append(item.Items, doc.Item{Text: doc.Line("accept with: ", doc.Command(f.Accept))})
	}
	return item
}

// place returns the file of a scenario with the line that its first finding is about.
func (s Scenario) place() string {
	if len(s.Where) == 0 {
		return s.File
	}
	return s.File + ":" + strconv.Itoa(s.line())
}

// line returns the line in File that the first finding is about, or else that of the scenario's name.
func (s Scenario) line() int {
	at := ""
	if found := s.effective(); len(found) > 0 {
		at = found[0].At
	}
	return cmp.Or(gate.LineOf(s.Where, at), s.Where["name"], 1)
}

// lastCallItem describes the last call of a trial, without an error that is shown already.
func lastCallItem(c *measure.LastCall, shown string) doc.Item {
	text := doc.Line("last call: ", fmt.Sprint("call ", c.N))
	if c.Purpose != "" {
		text = append(text, doc.Line(" (", doc.Quote(c.Purpose), ")")...)
	}
	if c.Line != "" {
		text = append(text, doc.Line(", answered by ", doc.Quote(c.Line))...)
	}
	if c.Fault != "" {
		text = append(text, doc.Line(", with the fault ", doc.Quote(c.Fault))...)
	}
	item, problem := doc.Item{Text: text}, c.Error
	if _, message, _ := strings.Cut(c.Error, ": "); message != "" && strings.Contains(shown, message) {
		problem = ""
	}
	for _, said := range []struct{ who, text string }{
		{cmp.Or(c.Role, "request"), c.Request}, {"answer", c.Reply}, {"error", problem},
	} {
		if said.text != "" {
			item.Evidence += said.who + ": " + excerpt(said.text) + "\n"
		}
	}
	return item
}

// endOf returns the last lines of a log. A finding that quotes them has quoted the log, of which it may have less.
func endOf(log string) string {
	lines := strings.Split(log, "\n")
	return strings.Join(lines[max(0, len(lines)-3):], "\n")
}

// maxCallText limits the texts of a last call, in characters.
const maxCallText = 200

// excerpt returns the beginning of a text on one line.
func excerpt(s string) string {
	fields := strings.Join(strings.Fields(s), " ")
	if r := []rune(fields); len(r) > maxCallText {
		return string(r[:maxCallText-1]) + "…"
	}
	return fields
}

// Rerun returns the command that runs a scenario again as it was run: with its perturbations, and
// as many trials. A file that has the perturbations itself needs no flags.
func Rerun(s Scenario) string {
	golden, _, perturbed := strings.Cut(s.Name, " [")
	what := s.File
	if what == "" || strings.HasPrefix(what, shippedPrefix) {
		what = golden
	} else if strings.HasPrefix(what, "-") {
		what = "./" + what
	}
	words := []string{"rehearse", "run", what}
	for _, p := range s.Perturb {
		if perturbed {
			words = append(words, "--perturb", p)
		}
	}
	if s.Planned > 1 {
		words = append(words, "--trials", strconv.Itoa(s.Planned))
	}
	return format.ShellLine(words...)
}
