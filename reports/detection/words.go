package detection

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/rehearse-dev/rehearse/harness/detect/score"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
	"github.com/rehearse-dev/rehearse/stat"
)

// figure is a share with three decimals; "n/a" of 0 of 0.
func figure(v *float64) string {
	if v == nil {
		return "n/a"
	}
	return strconv.FormatFloat(*v, 'f', 3, 64)
}

// signed is a difference of shares.
func signed(v *float64) string {
	if v == nil {
		return "n/a"
	}
	return fmt.Sprintf("%+.3f", *v)
}

// between is the interval of v, or nothing.
func between(v score.Value, format func(*float64) string) string {
	if v.Interval == nil {
		return ""
	}
	return format(&v.Interval.Lo) + " to " + format(&v.Interval.Hi)
}

// brief is a share with its interval, both with two decimals, for tables.
func brief(v score.Value) string {
	if v.Value == nil {
		return "n/a"
	}
	text := fmt.Sprintf("%.2f", *v.Value)
	if v.Interval != nil {
		text += fmt.Sprintf(" (%.2f-%.2f)", v.Interval.Lo, v.Interval.Hi)
	}
	return text
}

// method says how an interval was made, if there is one.
func method(v score.Value) string {
	if v.Interval == nil {
		return ""
	}
	return v.Interval.Method
}

// interval is the header of a column of intervals.
var interval = fmt.Sprintf("%g %% interval", 100*stat.Level)

// rate is one of the four rates of a table of confusion.
type rate struct {
	name  string
	value score.Value
	of    string // what its n counts
}

func rates(s score.Scores) []rate {
	return []rate{
		{"precision", s.Precision, "found"},
		{"recall", s.Recall, "to find"},
		{"F1", s.F1, "items"},
		{"false-positive rate", s.FPR, "not to find"},
	}
}

// positive names what the detector should find.
func positive(r score.Result) string { return sanitize.Line(strings.Join(r.Positive, " or "), maxName) }

// judged is "760 of 763 items (3 failed)".
func judged(r score.Result) string {
	if r.Failed == 0 {
		return format.Plural(r.Scored, "item")
	}
	return fmt.Sprintf("%d of %s (%d could not be judged)", r.Scored, format.Plural(r.Items, "item"), r.Failed)
}

// speed is one line of latencies and throughput.
func speed(l *score.Latency) string {
	line := fmt.Sprintf("latency p50 %s, p99 %s, max %s; %s bytes", format.Seconds(l.P50),
		format.Seconds(l.P99), format.Seconds(l.Max), format.Number(float64(l.Bytes)))
	if l.MBPerSecond != nil {
		line += fmt.Sprintf(" at %s MB/s", format.Significant(*l.MBPerSecond))
	}
	return line
}

// paid is one line of calls and what they cost.
func paid(c *score.Cost) string {
	switch {
	case c.Known:
		return fmt.Sprintf("%s, %s EUR", format.Plural(c.Calls, "call"), format.Money(c.EUR))
	case c.EUR == 0:
		return format.Plural(c.Calls, "call") + ", unknown EUR"
	default:
		return fmt.Sprintf("%s, at least %s EUR", format.Plural(c.Calls, "call"), format.Money(c.EUR))
	}
}

// chance is a p-value; one that would read as 0 is only bounded.
func chance(p *float64) string {
	switch {
	case p == nil:
		return "n/a"
	case *p < 0.0001:
		return "< 0.0001"
	default:
		return fmt.Sprintf("%.4f", *p)
	}
}

// at returns what the threshold t gives: the point of the least threshold that
// some score reaches, from t on. Above the highest score nothing is found.
func at(c *score.Curve, t float64) score.Point {
	for _, p := range c.Points {
		if p.Threshold >= t {
			return p
		}
	}
	none := 0.0
	p := score.Point{Threshold: t, Recall: &none, F1: &none, FPR: &none}
	if len(c.Points) > 0 { // 0 of 0 stays so
		last := c.Points[len(c.Points)-1]
		if last.Recall == nil {
			p.Recall, p.F1 = nil, nil
		}
		if last.FPR == nil {
			p.FPR = nil
		}
	}
	return p
}

// mistakes are the two kinds of errors of a detector.
func mistakes(r score.Result) []kind {
	return []kind{
		{"false positives", r.Overall.FP, r.FalsePositives},
		{"false negatives", r.Overall.FN, r.FalseNegatives},
	}
}

type kind struct {
	name string
	n    int // all of them
	list []score.Mistake
}

// heading is "12 false positives", or "12 false positives, 5 shown".
func (k kind) heading(shown int) string {
	name := k.name
	if k.n == 1 {
		name = strings.TrimSuffix(name, "s")
	}
	if shown < k.n {
		return fmt.Sprintf("%d %s, %d shown", k.n, name, shown)
	}
	return fmt.Sprintf("%d %s", k.n, name)
}

// details are what is known of a mistake, each with its heading, in order.
func details(m score.Mistake) []detail {
	list := []detail{{"text", []string{m.Excerpt}}}
	add := func(name string, texts []string) {
		if len(texts) > 0 {
			list = append(list, detail{name, texts[:min(len(texts), maxShown)]})
		}
	}
	add("evidence", m.Evidence)
	add("reason", m.Reasons)
	add("detected step", m.Steps)
	add("missed step", m.Missed)
	if m.Note != "" {
		add("note", []string{m.Note})
	}
	return list
}

type detail struct {
	name  string
	texts []string
}

// verdicts says what label and detector said: "suggests (high), taken for defers
// with 0.913".
func verdicts(m score.Mistake) string {
	text := fmt.Sprintf("%s (%s)", sanitize.Line(m.Label, maxName), sanitize.Line(m.Confidence, maxName))
	if m.Class != "" {
		text += ", taken for " + sanitize.Line(m.Class, maxName)
	}
	if m.Score != nil {
		text += ", score " + figure(m.Score)
	}
	return text
}

// difference is one of those of a comparison.
type difference struct {
	name  string
	value score.Value
}

func differences(c score.Comparison) []difference {
	return []difference{{"precision", c.Precision}, {"recall", c.Recall}, {"F1", c.F1}}
}

// equals puts a sign before a p-value that has none.
func equals(p string) string {
	if strings.HasPrefix(p, "<") {
		return p
	}
	return "= " + p
}

// found is how spans or steps were found, by one kind of match.
type found struct {
	by string
	score.Found
}

func both(m score.Match) []found { return []found{{"exact", m.Exact}, {"overlap", m.Overlap}} }
