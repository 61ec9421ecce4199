package measure

import (
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

// toldInstead returns what the model was told of a failed call of a tool. It is hidden if fewer results report a failure
// than calls failed that the agent did not repeat with success.
func toldInstead(tr *record.Trial, calls []scriptedCall, failed *scriptedCall) (told string, hidden bool) {
	asked := askedFor(tr, failed)
	results, until := resultsOf(tr, failed.Calls, asked.ids)
	if len(results) == 0 {
		return "", false
	}
	var attempts []scriptedCall
	succeeded, own := 0, 0
	for _, c := range calls {
		if c.Server != failed.Server || c.Tool != failed.Tool || c.Calls <= asked.reply || c.Calls > until ||
			asked.same && sortedJSON(c.Arguments) != sortedJSON(failed.Arguments) {
			continue
		}
		if c.n == failed.n {
			own = len(attempts)
		}
		if c.Error == "" {
			succeeded++
		}
		attempts = append(attempts, c)
	}
	var silent []string // the results that report no failure, by id
	for id, m := range results {
		if !reportsFailure(m, attempts) {
			silent = append(silent, id)
		}
	}
	unresolved := min(len(attempts), len(asked.ids)) - succeeded
	if len(results)-len(silent) >= unresolved || len(silent) == 0 {
		return "", false
	}
	id := slices.MinFunc(silent, func(a, b string) int { // the first that the model asked for
		return cmp.Compare(slices.Index(asked.ids, a), slices.Index(asked.ids, b))
	})
	if len(attempts) <= len(asked.ids) { // none was repeated: they have the order of the ids
		id = asked.ids[own]
	}
	if !slices.Contains(silent, id) {
		return "", false
	}
	return results[id].Content, true
}

// reportsFailure reports whether the result of a tool is marked as an error, contains the error of a call, or has a word
// of a failure.
func reportsFailure(m *llm.Message, calls []scriptedCall) bool {
	return m.ToolError || failword.In(m.Content) || slices.ContainsFunc(calls, func(c scriptedCall) bool {
		return c.Error != "" && strings.Contains(m.Content, c.Error)
	})
}

// asked has the ids under which the model asked in one reply for a call of a tool.
type asked struct {
	ids   []string
	same  bool // they have the arguments of the call; otherwise the agent changed those
	reply int  // the index of the reply
}

// askedFor returns the ids of the last reply that asked for a call of a tool and had no result before that call. If a
// reply asked for the tool with the same arguments, it is preferred.
func askedFor(tr *record.Trial, c *scriptedCall) (other asked) {
	before := min(c.Calls, len(tr.Calls))
	for i := before - 1; i >= 0; i-- {
		reply, ok := tr.Message(tr.Calls[i].Reply)
		if !ok {
			continue
		}
		a, same := asked{reply: i}, asked{reply: i, same: true}
		for _, t := range reply.ToolCalls {
			if t.ID == "" || !namesTool(t.Name, c.Tool) || answered(tr.Calls[:before], tr, t.ID) {
				continue
			}
			a.ids = append(a.ids, t.ID)
			if sortedJSON(t.Arguments) == sortedJSON(c.Arguments) {
				same.ids = append(same.ids, t.ID)
			}
		}
		if len(same.ids) > 0 {
			return same
		}
		if len(other.ids) == 0 {
			other = a
		}
	}
	return other
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

// sortedJSON returns JSON without white space and with sorted keys; other texts stay as they are.
func sortedJSON(text string) string {
	var value any
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if d.Decode(&value) != nil {
		return text
	}
	out, err := json.Marshal(value)
	if err != nil {
		return text
	}
	return string(out)
}

// answered reports whether a request of calls has the result of a tool with an id.
func answered(calls []record.Call, tr *record.Trial, id string) bool {
	return slices.ContainsFunc(calls, func(c record.Call) bool { return resultOf(tr, &c, id) != nil })
}

// resultsOf returns the results with one of the ids, by id, in the first request that has any after a number of calls, and
// the index of that request.
func resultsOf(tr *record.Trial, after int, ids []string) (results map[string]*llm.Message, request int) {
	results = map[string]*llm.Message{}
	for request = after; request < len(tr.Calls) && len(results) == 0; request++ {
		for _, id := range ids {
			if m := resultOf(tr, &tr.Calls[request], id); m != nil {
				results[id] = m
			}
		}
	}
	return results, request - 1
}

// resultOf returns the result of a tool with an id in the request of a call; nil if there is none.
func resultOf(tr *record.Trial, call *record.Call, toolCall string) *llm.Message {
	for _, id := range call.Messages {
		if m, ok := tr.Message(id); ok && m.Role == llm.ToolRole && m.ToolCallID == toolCall {
			return &m.Message
		}
	}
	return nil
}
