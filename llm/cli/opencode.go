package cli

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/rehearse-dev/rehearse/internal/lazyregexp"
	"github.com/rehearse-dev/rehearse/llm"
)

// opencodeEvent is one line of "opencode run --format json". There is no final event: the last step ends with
// another reason than "tool-calls".
type opencodeEvent struct {
	eventHead
	Session string        `json:"sessionID"`
	Part    opencodePart  `json:"part"`
	Error   opencodeError `json:"error"`
}

// opencodePart is a part of a message: a text, a tool call, or the end of a step.
type opencodePart struct {
	Text   string          `json:"text"`
	CallID string          `json:"callID"`
	Tool   string          `json:"tool"`
	State  json.RawMessage `json:"state"`
	// Of a step_finish.
	Reason string          `json:"reason"`
	Tokens *opencodeTokens `json:"tokens"`
	Cost   float64         `json:"cost"`
}

// opencodeTokens counts input without cached input, and output without reasoning.
type opencodeTokens struct {
	Input     int `json:"input"`
	Output    int `json:"output"`
	Reasoning int `json:"reasoning"`
	Cache     struct {
		Read  int `json:"read"`
		Write int `json:"write"`
	} `json:"cache"`
}

type opencodeError struct {
	Name string `json:"name"`
	Data struct {
		Message string `json:"message"`
		Status  int    `json:"statusCode"`
	} `json:"data"`
}

// opencodeState is the state of a finished tool call.
type opencodeState struct {
	Status string          `json:"status"`
	Error  string          `json:"error"`
	Input  json.RawMessage `json:"input"`
}

func opencodeLine(a *answer, line []byte) {
	var e opencodeEvent
	kind, ok := a.event(line, &e)
	if !ok {
		return
	}
	a.began(e.Session)
	switch kind {
	case "step_start":
		a.text = "" // the answer is the text of the last step
	case "text":
		a.text = joined(a.text, e.Part.Text)
		a.sayWhole(e.Part.Text)
	case "tool_use":
		opencodeTool(a, e.Part)
	case "step_finish":
		opencodeStep(a, e.Part)
	case "error":
		a.fail(cmp.Or(e.Error.Data.Message, e.Error.Name), e.Error.Data.Status)
	case "reasoning": // of no interest
	default:
		a.unknownEvent(kind)
	}
}

// joined returns two texts, with an empty line between them unless one is empty.
func joined(first, second string) string {
	if first == "" || second == "" {
		return first + second
	}
	return first + "\n\n" + second
}

// opencodeStep adds the usage of a step, and ends the answer with the last one.
func opencodeStep(a *answer, p opencodePart) {
	if t := p.Tokens; t != nil {
		sum := llm.Usage{}
		if a.usage != nil {
			sum = *a.usage
		}
		a.usage = reported(llm.Usage{
			Input: sum.Input + t.Input, CachedInput: sum.CachedInput + t.Cache.Read, CacheWrite: sum.CacheWrite + t.Cache.Write,
			Output: sum.Output + t.Output + t.Reasoning, Reasoning: sum.Reasoning + t.Reasoning,
		})
	}
	if p.Cost > 0 { // it reports 0 for a model of unknown price
		usd := p.Cost
		if a.usd != nil {
			usd += *a.usd
		}
		a.usd = &usd
	}
	switch p.Reason {
	case "tool-calls":
		return
	case "length":
		a.finish = llm.FinishLength
	case "content-filter":
		a.finish = llm.FinishContentFilter
	}
	a.ended = true
}

// opencodeInvalid is the tool that opencode reports for a call of a tool that is not offered.
const opencodeInvalid = "invalid"

// opencodeActing are the tools that read-only access removes.
var opencodeActing = []string{"apply_patch", "edit", "write", "patch", "multiedit", "bash", "webfetch", "websearch"}

// opencodeDenied matches the errors of calls that a rule denies, or that nobody could be asked about.
var opencodeDenied = lazyregexp.New(`^The user (?:rejected permission to use|has specified a rule which prevents)`)

// opencodeTool processes a finished tool call; there is no event about its start.
func opencodeTool(a *answer, p opencodePart) {
	var s opencodeState
	if !a.decode(p.State, &s) {
		return
	}
	a.result(s.Status != "error" && p.Tool != opencodeInvalid)
	if p.Tool == opencodeInvalid {
		var call struct {
			Tool string `json:"tool"`
		}
		_ = json.Unmarshal(s.Input, &call)
		a.tool(p.CallID, call.Tool)
		if a.observing && slices.Contains(opencodeActing, call.Tool) {
			a.deny(p.CallID, call.Tool, "the tool is switched off")
		}
		return
	}
	a.tool(p.CallID, p.Tool)
	if s.Status == "error" && opencodeDenied().MatchString(s.Error) {
		a.deny(p.CallID, p.Tool, subject(s.Input))
	}
}
