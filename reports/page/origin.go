package page

import (
	"bytes"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/internal/format"
)

// Origin is the time and the source code of a run. Recordings do not contain it, because
// it differs between equal runs; the zero value is unknown.
type Origin struct {
	Began, Ended                time.Time
	Commit, Branch, CI, Command string
	// Dirty is true if files differed from the commit.
	Dirty bool
}

func (o Origin) facts() (list []fact) {
	add := func(name, value string) {
		if value != "" {
			list = append(list, fact{name, value})
		}
	}
	if !o.Began.IsZero() {
		add("date", format.Time(o.Began))
		if took := o.Ended.Sub(o.Began); took > 0 {
			add("took", format.Seconds(took.Seconds()))
		}
	}
	add("command", line(o.Command, 2000))
	const short = 12 // digits of a commit
	commit := line(o.Commit, 100)
	if commit = commit[:min(len(commit), short)]; o.Dirty {
		commit += ", with changes"
	}
	add("commit", strings.ToValidUTF8(commit, ""))
	add("branch", line(o.Branch, 100))
	add("job", line(o.CI, 200))
	return list
}

// Stamp adds the origin to a page that was written without one: when a run writes its page, it has
// not ended.
func Stamp(html []byte, o Origin) []byte {
	r := renderer{}
	if err := r.execute("origin", Origin{}.facts()); err != nil {
		panic(err) // a mistake in the template
	}
	empty := bytes.Clone(r.out.Bytes())
	r.reset()
	if err := r.execute("origin", o.facts()); err != nil {
		panic(err)
	}
	return bytes.Replace(html, empty, r.out.Bytes(), 1)
}
