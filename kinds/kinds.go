// Package kinds lists the kinds of agents that ship with the program.
package kinds

import (
	"sync"

	interview "github.com/rehearse-dev/rehearse/agents/interview/kind"
	loop "github.com/rehearse-dev/rehearse/agents/loop/kind"
	supervise "github.com/rehearse-dev/rehearse/agents/persist/kind"
	react "github.com/rehearse-dev/rehearse/agents/react/kind"
	hook "github.com/rehearse-dev/rehearse/agents/stop/kind"
	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/kind"
	"github.com/rehearse-dev/rehearse/harness/kind/coding"
	"github.com/rehearse-dev/rehearse/harness/kind/command"
	"github.com/rehearse-dev/rehearse/harness/kind/container"
	"github.com/rehearse-dev/rehearse/harness/kind/function"
	"github.com/rehearse-dev/rehearse/harness/kind/http"
)

// Language returns the language of all kinds that ship. All callers share one, which
// remembers compiled expressions.
var Language = sync.OnceValue(func() *gate.Language { return All().Language() })

// All returns the kinds that ship. A program with agents of its own appends their kinds.
func All() kind.List {
	return kind.List{
		loop.Kind(), hook.Kind(), interview.Kind(), supervise.Kind(), react.Kind(),
		function.Kind(nil), command.Kind(), http.Kind(), container.Kind(), coding.Kind(),
	}
}
