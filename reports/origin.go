package reports

import (
	"time"

	"github.com/rehearse-dev/rehearse/history"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/reports/doc"
)

// Origin is when, by which command and from which source code a run was made. A recording does not have it,
// because it differs between equal runs; nor has a Report, so that equal runs have equal reports.
type Origin struct {
	Began time.Time `json:"began,omitzero"`
	Ended time.Time `json:"ended,omitzero"`
	// By is the user who made the run: that of the CI system, or of the operating system.
	By string `json:"by,omitempty"`
	history.Origin
}

// source describes the commit, and what differed from it.
func (o Origin) source() string {
	text := history.ShortCommit(o.Commit, false)
	if text == "" {
		return ""
	}
	if o.Dirty {
		text += " with changes that are not committed"
	}
	if o.Untracked > 0 {
		text += ", " + format.Plural(o.Untracked, "untracked path")
	}
	return text
}

// Facts returns the known parts of the origin for a document.
func (o Origin) Facts() (list doc.Origin) {
	add := func(name string, value doc.Span) {
		if value.Text != "" {
			list = append(list, doc.Fact{Name: name, Value: doc.Line(value)})
		}
	}
	if !o.Began.IsZero() {
		add("date", doc.Quote(o.Began.UTC().Format(minutes+" UTC")))
		if took := o.Ended.Sub(o.Began); took > 0 {
			add("took", doc.Quote(format.Seconds(took.Seconds())))
		}
	}
	add("by", doc.Quote(o.By))
	add("command", doc.Command(o.Command))
	add("commit", doc.Quote(o.source()))
	add("branch", doc.Quote(o.Branch))
	add("job", doc.Quote(o.CI))
	return list
}
