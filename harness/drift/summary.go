package drift

import (
	"fmt"

	"github.com/rehearse-dev/rehearse/internal/format"
)

// Summary is the result in one sentence.
func (r *Result) Summary() string {
	s := fmt.Sprintf("%s compared: %s, %s, %s", format.Plural(len(r.Exchanges)-r.Unanswered(), "answer"),
		format.Plural(r.Count(Error), "error"), format.Plural(r.Count(Warn), "warning"), format.Plural(r.Count(Info), "informational difference"))
	if n := r.Unanswered(); n > 0 {
		s += fmt.Sprintf("; %d not answered", n)
	}
	return s
}
