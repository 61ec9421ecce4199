package mocks

import (
	"fmt"
	"strings"

	"github.com/rehearse-dev/rehearse/internal/suggest"
	"github.com/rehearse-dev/rehearse/mocks/wire"
)

// warnUnoffered adds a warning for each tool that a line calls and the request does not offer, once for each line and tool.
// It may be a test of what an agent does with an invented tool, or a typing error.
func (e *Engine) warnUnoffered(r *reply, call *wire.Call) {
	for _, t := range r.calls {
		if call.Offers(t.Name) {
			continue
		}
		text := fmt.Sprintf("%s: the request does not offer the tool %s that this line calls; %s", r.name, shorten(t.Name), offer(t.Name, call))
		e.mu.Lock()
		e.journal.findOnce(unoffered, r.name+": "+t.Name, text)
		e.mu.Unlock()
	}
}

// offer describes the tools that a request offers, with the one that was probably meant.
func offer(name string, call *wire.Call) string {
	if len(call.Tools) == 0 {
		return "it offers no tools"
	}
	const most = 10
	all, names := make([]string, len(call.Tools)), make([]string, 0, most+1)
	for i, t := range call.Tools {
		all[i] = t.Name
		if i < most {
			names = append(names, shorten(t.Name))
		}
	}
	if n := len(all) - most; n > 0 {
		names = append(names, fmt.Sprintf("%d more", n))
	}
	text := "it offers " + strings.Join(names, ", ")
	if nearest := suggest.Nearest(name, all); nearest != "" {
		text += "; did you mean " + shorten(nearest) + "?"
	}
	return text
}
