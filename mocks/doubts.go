package mocks

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/internal/suggest"
	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/mocks/wire"
)

// doubt adds warnings about an answer that a model would not have given to this request, each once for each line. It may be a
// test of what an agent does with such an answer, or a mistake in the script.
func (e *Engine) doubt(r *reply, call *wire.Call, c *wire.Completion) {
	if r.onlyFault {
		return
	}
	e.warnUnoffered(r, call)
	warn := func(key, format string, args ...any) {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.journal.findOnce(warned, r.name+": "+key, r.name+": "+fmt.Sprintf(format, args...))
	}
	if most := call.MaxTokens; most > 0 && c.Usage.Output > most && c.Finish != llm.FinishLength {
		warn("length", "the answer has %d tokens, but the request allows %d: a provider would cut it off there, with finish: length",
			c.Usage.Output, most)
	}
	if call.JSONMode && c.Text != "" && len(c.ToolCalls) == 0 && c.Finish != llm.FinishLength && !json.Valid([]byte(c.Text)) {
		warn("JSON", "the request demands JSON, but the text of this line is not JSON")
	}
	for _, t := range r.calls {
		i := slices.IndexFunc(call.Tools, func(offered llm.Tool) bool { return offered.Name == t.Name })
		if i < 0 {
			continue
		}
		for _, what := range unlike(t.Arguments, call.Tools[i].Parameters) {
			warn(t.Name+" "+what, "the call of %s %s", shorten(t.Name), what)
		}
	}
}

// unlike describes how the names of a call's arguments differ from the schema of the tool. Other names are only reported if the
// schema excludes them, or if they are probably misspelt.
func unlike(arguments string, schema json.RawMessage) (all []string) {
	var given map[string]json.RawMessage
	var want struct {
		Properties map[string]json.RawMessage `json:"properties"`
		Required   []string                   `json:"required"`
		Others     json.RawMessage            `json:"additionalProperties"`
	}
	if json.Unmarshal([]byte(arguments), &given) != nil || json.Unmarshal(schema, &want) != nil {
		return nil
	}
	known := slices.Sorted(maps.Keys(want.Properties))
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if _, ok := want.Properties[name]; ok {
			continue
		}
		if nearest := suggest.Nearest(name, known); nearest != "" {
			all = append(all, fmt.Sprintf("has the argument %s, which the tool does not know; did you mean %s?", shorten(name), shorten(nearest)))
		} else if string(want.Others) == "false" {
			all = append(all, fmt.Sprintf("has the argument %s, which the tool does not allow", shorten(name)))
		}
	}
	for _, name := range want.Required {
		if _, ok := given[name]; !ok {
			all = append(all, fmt.Sprintf("lacks the argument %s, which the tool requires", shorten(name)))
		}
	}
	return all
}

// warnUnoffered adds a warning for each tool that a line calls and the request does not offer.
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
