package measure

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/internal/failword"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
	"github.com/rehearse-dev/rehearse/llm"
)

// hiddenFailures describes the injected failures of tools at MCP servers of which the model was not told. It does not
// include calls of which this is not known: no request to the model has their result, or the model did not ask for them.
func hiddenFailures(tr *record.Trial) (all []string) {
	calls := scriptedCalls(tr)
	for i := range calls {
		c := &calls[i]
		if c.Fault == "" || c.Error == "" {
			continue
		}
		if told, hidden := toldInstead(tr, calls, c); hidden {
			told = cmp.Or(sanitize.Line(told, maxTold), "an empty result")
			all = append(all, fmt.Sprintf("%s (MCP call %d, %s): the model was told: %s", c.Tool, c.n, c.Fault, told))
		}
	}
	return all
}

// scriptedCall is a call of a tool at a scripted MCP server with its number.
type scriptedCall struct {
	record.ToolCall
	n int
}

func scriptedCalls(tr *record.Trial) (all []scriptedCall) {
	for i := range tr.Events {
		if c, ok := event.Read[record.ToolCall](&tr.Events[i].Event); ok {
			all = append(all, scriptedCall{c, tr.Events[i].N})
		}
	}
	return all
}

// maxTold is the length of a result in a description, in characters.
const maxTold = 200

// toldInstead returns what the model was told of a failed call of a tool. It is hidden if no result reports a failure,
// and the agent did not repeat the call with success before.
func toldInstead(tr *record.Trial, calls []scriptedCall, failed *scriptedCall) (told string, hidden bool) {
	asked, at := askedFor(tr, failed)
	if len(asked) == 0 || len(resultsOf(tr, tr.Calls[:at], asked)) > 0 { // answered before: the agent itself made this call
		return "", false
	}
	for i := at; i < len(tr.Calls); i++ {
		results := resultsOf(tr, tr.Calls[i:i+1], asked)
		if len(results) == 0 {
			continue
		}
		repeated := slices.ContainsFunc(calls, func(c scriptedCall) bool {
			return c.n > failed.n && c.Calls <= i && c.Server == failed.Server && c.Tool == failed.Tool && c.Error == "" &&
				(c.Arguments == failed.Arguments || len(asked) == 1)
		})
		reported := slices.ContainsFunc(results, func(m *llm.Message) bool {
			return m.ToolError || strings.Contains(m.Content, failed.Error) || failword.In(m.Content)
		})
		return results[0].Content, !repeated && !reported
	}
	return "", false
}

// askedFor returns the ids under which the model asked for a call of a tool, and the number of calls to the model before
// its result. If the model asked for the tool several times at once, the calls with the same arguments are preferred.
func askedFor(tr *record.Trial, c *scriptedCall) (ids []string, before int) {
	before = min(c.Calls, len(tr.Calls))
	for i := before - 1; i >= 0; i-- {
		reply, ok := tr.Message(tr.Calls[i].Reply)
		if !ok {
			continue
		}
		var same []string
		for _, t := range reply.ToolCalls {
			if t.ID == "" || !namesTool(t.Name, c.Tool) {
				continue
			}
			ids = append(ids, t.ID)
			if compactJSON(t.Arguments) == c.Arguments {
				same = append(same, t.ID)
			}
		}
		if len(same) > 0 {
			return same, before
		}
		if len(ids) > 0 {
			return ids, before
		}
	}
	return nil, before
}

// namesTool reports whether the name of a tool for the model is that of a tool at an MCP server, alone or after the
// server's name, as in mcp__shop__refund.
func namesTool(name, tool string) bool {
	plain := func(text string) string {
		return strings.Map(func(r rune) rune {
			if unicode.IsLetter(r) || unicode.IsDigit(r) {
				return r
			}
			return '_'
		}, text)
	}
	name, tool = plain(name), plain(tool)
	return name == tool || strings.HasSuffix(name, "_"+tool)
}

// compactJSON returns JSON without white space, as calls of tools are recorded; other texts stay as they are.
func compactJSON(text string) string {
	var out bytes.Buffer
	if json.Compact(&out, []byte(text)) != nil {
		return text
	}
	return out.String()
}

// resultsOf returns the results of tools with one of the ids in the requests of calls.
func resultsOf(tr *record.Trial, calls []record.Call, ids []string) (results []*llm.Message) {
	for i := range calls {
		for _, id := range calls[i].Messages {
			if m, ok := tr.Message(id); ok && m.Role == llm.ToolRole && slices.Contains(ids, m.ToolCallID) {
				results = append(results, &m.Message)
			}
		}
	}
	return results
}
