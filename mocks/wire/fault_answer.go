package wire

import (
	"cmp"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/rehearse-dev/rehearse/llm"
)

// newEmptyText removes the content of the answer.
func newEmptyText(FaultSpec) Fault {
	return answerFault(func(_ Codec, _ Call, c Completion) (Completion, bool) {
		return withhold(c, llm.FinishStop), true
	})
}

// newContentFilter replaces the content by the finish reason content_filter.
func newContentFilter(FaultSpec) Fault {
	return answerFault(func(_ Codec, _ Call, c Completion) (Completion, bool) {
		return withhold(c, llm.FinishContentFilter), true
	})
}

// newRefusal replaces the answer by a refusal.
func newRefusal(spec FaultSpec) Fault {
	return answerFault(func(_ Codec, _ Call, c Completion) (Completion, bool) {
		c = withhold(c, llm.FinishStop)
		c.Refusal = cmp.Or(spec.Message, "I'm sorry, but I can't help with that.")
		return c, true
	})
}

// withhold removes the content of an answer.
func withhold(c Completion, finish llm.FinishReason) Completion {
	c.Text, c.Refusal, c.ToolCalls, c.Media, c.Finish = "", "", nil, nil, finish
	c.Usage.Output = c.Usage.Reasoning
	return c
}

// newFinishLength truncates the arguments of the last tool call or, in an answer without
// calls, the text.
func newFinishLength(spec FaultSpec) Fault {
	return answerFault(func(_ Codec, call Call, c Completion) (Completion, bool) {
		if call.Output != TextOutput {
			return c, false // media have no length that a model could reach
		}
		c.ToolCalls = slices.Clone(c.ToolCalls)
		tail := &c.Text
		if n := len(c.ToolCalls); n > 0 {
			tail = &c.ToolCalls[n-1].Arguments
		}
		total := countPieces(*tail)
		n, ok := delivered(total, spec.After)
		if !ok && spec.After != nil {
			return c, false // the answer is shorter than After
		}
		*tail = firstPieces(*tail, n)
		if shown := c.Usage.Output - c.Usage.Reasoning; total > 0 && shown > 0 {
			c.Usage.Output -= shown - shown*n/total
		}
		c.Finish = llm.FinishLength
		return c, true
	})
}

// newWrongUsage reports ten times the usage and more, in answers that report usage.
func newWrongUsage(FaultSpec) Fault {
	return answerFault(func(codec Codec, call Call, c Completion) (Completion, bool) {
		wrong := c.Usage
		wrong.Input = 10*wrong.Input + 1000
		wrong.Output = 10*wrong.Output + 1000
		c.reported = &wrong
		d := codec.Dialect()
		return c, d.reportsUsage || !call.Stream && !d.Media || call.IncludeUsage
	})
}

// newInvalidToolArguments breaks the arguments of the last tool call. An answer without calls
// becomes a call of the first offered tool.
func newInvalidToolArguments(FaultSpec) Fault {
	return answerFault(func(_ Codec, call Call, c Completion) (Completion, bool) {
		c.ToolCalls = slices.Clone(c.ToolCalls)
		if len(c.ToolCalls) == 0 {
			if len(call.Tools) == 0 {
				return c, false
			}
			c.ToolCalls = []llm.ToolCall{{ID: "call_" + c.ID, Name: call.Tools[0].Name}}
		}
		last := &c.ToolCalls[len(c.ToolCalls)-1]
		last.Arguments = brokenJSON(last.Arguments)
		c.Finish = llm.FinishToolCalls
		return c, true
	})
}

// brokenJSON returns the first half of text, or part of an object if that half is empty or
// valid JSON.
func brokenJSON(text string) string {
	if half := string(firstHalf([]byte(text))); half != "" && !jsontext.Value(half).IsValid() {
		return half
	}
	return `{"cut":`
}
