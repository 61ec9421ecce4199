package validate

import (
	"github.com/rehearse-dev/rehearse/agents/interview/session"
)

// works are the works that the candidate named.
type works struct {
	*session.Titles
	names []string
}

func newWorks(names []string) works { return works{session.NewTitles(names), names} }

// demanded reports whether a text that speaks of all works must name this one: what
// describes several, such as "the films of Tarantino", it need not repeat.
func (w works) demanded(work int) bool { return !w.Vague(work) }

// missing returns the works, as the candidate wrote them, that are not among those
// named.
func (w works) missing(named map[int]bool) []string {
	var all []string
	for i, name := range w.names[:min(len(w.names), session.MaxTitles)] {
		if !named[i] && w.Titled(i) && w.demanded(i) {
			all = append(all, name)
		}
	}
	return all
}
