package audit

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/internal/quantity"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
)

//go:embed page.html
var page string

// parsed is the template of the page, read when the first page is written.
var parsed = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("audit").Funcs(template.FuncMap{
		"line":     func(s any) string { return sanitize.Line(fmt.Sprint(s), 0) },
		"text":     func(s string) string { return sanitize.Text(s, 0) },
		"step":     stepName,
		"money":    money,
		"amount":   amountText,
		"seconds":  secondsText,
		"took":     func(d time.Duration) string { return format.Seconds(d.Seconds()) },
		"between":  func(from, to time.Time) string { return format.Seconds(to.Sub(from).Seconds()) },
		"at":       func(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05") },
		"share":    share,
		"plural":   format.Plural,
		"class":    class,
		"short":    shortHash,
		"incident": incidents,
	}).Parse(page))
})

// HTML writes the audit as one page that needs neither network nor scripts.
func HTML(w io.Writer, a Audit) error {
	view := struct {
		Audit
		Cost, Latency, Timeline *chart
	}{a, costChart(a), latencyChart(a), timeline(a)}
	if err := parsed().Execute(w, view); err != nil {
		return fmt.Errorf("write the audit as HTML: %w", err)
	}
	return nil
}

// stepName returns a step in the words of a reader.
func stepName(s session.Step) string {
	switch s {
	case session.Identity:
		return "Identity"
	case session.Tone:
		return "Tone"
	case session.Preamble:
		return "Preamble"
	case session.Matching:
		return "Matching"
	}
	return fmt.Sprintf("Block %d%s", s.Block(), s.Part())
}

// money returns a cost in words; what is not known is never shown as 0.
func money(c Cost, currency quantity.Currency) string {
	switch {
	case c.Amount != nil:
		return format.Money(*c.Amount) + " " + string(currency)
	case c.AtLeast > 0:
		return "at least " + format.Money(c.AtLeast) + " " + string(currency)
	}
	return "unknown"
}

func amountText(v *float64) string {
	if v == nil {
		return "unknown"
	}
	return format.Money(*v)
}

func secondsText(v *float64) string {
	if v == nil {
		return "n/a"
	}
	return format.Seconds(*v)
}

// share returns a rate in words, with its doubt.
func share(r Rate) string {
	if r.Value == nil {
		return "n/a"
	}
	text := fmt.Sprintf("%s %% (%d of %d)", percent(*r.Value), r.Hits, r.Of)
	if in := r.Interval; in != nil {
		text += fmt.Sprintf(", 95 %% interval %s to %s %%", percent(in.Lo), percent(in.Hi))
	}
	return text
}

func percent(v float64) string {
	return strings.TrimSuffix(fmt.Sprintf("%.1f", 100*v), ".0")
}

// shortHash leaves the version and the start of the hash.
func shortHash(s string) string { return sanitize.Line(s, 40) }

// incidents returns the calls that were in vain.
func incidents(list []Call) []Call {
	return where(list, func(c Call) bool { return c.Outcome != session.Accepted })
}
