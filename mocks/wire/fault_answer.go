package wire

import (
	"cmp"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/rehearse-dev/rehearse/llm"
)

// newEmptyText returns an answer without content.
func newEmptyText(FaultSpec) Fault {
	return answerFault(func(_ Codec, _ Call, c Completion) (Completion, bool) {
		return withhold(c, llm.FinishStop), true
	})
}

// newContentFilter answers that the text was withheld.
func newContentFilter(FaultSpec) Fault {
	return answerFault(func(_ Codec, _ Call, c Completion) (Completion, bool) {
		return withhold(c, llm.FinishContentFilter), true
	})
}

// newRefusal puts a refusal in the answer's place.
func newRefusal(spec FaultSpec) Fault {
	return answerFault(func(_ Codec, _ Call, c Completion) (Completion, bool) {
		c = withhold(c, llm.FinishStop)
		c.Refusal = cmp.Or(spec.Message, "I'm sorry, but I can't help with that.")
		return c, true
	})
}

// withhold removes the whole content of an answer.
func withhold(c Completion, finish llm.FinishReason) Completion {
	c.Text, c.Refusal, c.ToolCalls, c.Finish = "", "", nil, finish
	c.Usage.Output = c.Usage.Reasoning
	return c
}

// newFinishLength cuts the answer off where its last tokens are: in the
// arguments of the last tool call if there is one, in the text otherwise.
func newFinishLength(spec FaultSpec) Fault {
	return answerFault(func(_ Codec, _ Call, c Completion) (Completion, bool) {
		c.ToolCalls = slices.Clone(c.ToolCalls)
		tail := &c.Text
		if n := len(c.ToolCalls); n > 0 {
			tail = &c.ToolCalls[n-1].Arguments
		}
		total := countPieces(*tail)
		n, ok := delivered(total, spec.After)
		if !ok && spec.After != nil {
			return c, false // the answer is shorter than the limit
		}
		*tail = firstPieces(*tail, n)
		if shown := c.Usage.Output - c.Usage.Reasoning; total > 0 && shown > 0 {
			c.Usage.Output -= shown - shown*n/total
		}
		c.Finish = llm.FinishLength
		return c, true
	})
}

// newWrongUsage reports a usage that no one consumed, where usage is reported.
func newWrongUsage(FaultSpec) Fault {
	return answerFault(func(codec Codec, call Call, c Completion) (Completion, bool) {
		wrong := c.Usage
		wrong.Input = 10*wrong.Input + 1000
		wrong.Output = 10*wrong.Output + 1000
		c.reported = &wrong
		return c, codec.Dialect().reportsUsage || !call.Stream || call.IncludeUsage
	})
}

// newInvalidToolArguments breaks the arguments of the last tool call. An answer
// without one becomes a call of the first tool that was offered.
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

// brokenJSON cuts text off in the middle, or in a member if half of it would
// still be JSON.
func brokenJSON(text string) string {
	if half := string(firstHalf([]byte(text))); half != "" && !jsontext.Value(half).IsValid() {
		return half
	}
	return `{"cut":`
}
