package drift

import (
	"bufio"
	"fmt"
	"io"

	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
)

// Summary is the result in one sentence.
func (r *Result) Summary() string {
	s := fmt.Sprintf("%s compared: %s, %s, %s", format.Plural(len(r.Exchanges)-r.Unanswered(), "answer"),
		format.Plural(r.Count(Error), "error"), format.Plural(r.Count(Warn), "warning"), format.Plural(r.Count(Info), "informational difference"))
	if n := r.Unanswered(); n > 0 {
		s += fmt.Sprintf("; %d not answered", n)
	}
	if r.Stopped != "" {
		s += "; stopped by " + sanitize.Line(r.Stopped, 200)
	}
	return s
}

// Markdown writes a result for a step summary or a comment.
func Markdown(w io.Writer, r Result) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "### Drift of %s\n\n%s, against what was captured on %s.\n", sanitize.Code(r.Upstream, 100), r.Summary(),
		r.Captured.UTC().Format("2006-01-02"))
	rows := 0
	for i := range r.Exchanges {
		e := &r.Exchanges[i]
		if e.Unanswered != "" {
			rows = row(b, rows, "not answered", e, "", e.Unanswered, "")
		}
		for _, d := range e.Differences {
			rows = row(b, rows, string(d.Tier), e, d.Where, d.Before, d.Now)
		}
	}
	for _, s := range r.Skipped {
		fmt.Fprintf(b, "\nExchange %d was not asked again: %s.", s.N, sanitize.Code(s.Why, 300))
	}
	if len(r.Skipped) > 0 {
		fmt.Fprintln(b)
	}
	return b.Flush()
}

// row writes a row of the table, with its head before the first one.
func row(b *bufio.Writer, rows int, tier string, e *Exchange, where, before, now string) int {
	if rows == 0 {
		fmt.Fprint(b, "\n| | exchange | where | captured | now |\n|---|---|---|---|---|\n")
	}
	fmt.Fprintf(b, "| %s | %d %s | %s | %s | %s |\n", tier, e.N, sanitize.Code(e.Path, 60), sanitize.Code(where, 120),
		sanitize.Code(before, 200), sanitize.Code(now, 200))
	return rows + 1
}
