package wire

import "github.com/rehearse-dev/rehearse/llm"

// Encode implements Codec. An answer without streaming is one frame after First and PerToken for
// each output token. A stream has a head at once and its first chunk after First; the time of all
// output tokens is spread evenly over the chunks with output. Both take equally long.
func (o OpenAIChat) Encode(call Call, c Completion) []Frame {
	if call.Stream {
		return o.encodeChunks(&call, c)
	}
	frames := jsonFrames(c.ID, o.completion(&call, c))
	frames[0].Delay = addUp(c.First, generation(c))
	return frames
}

// completion returns the body of an answer without streaming.
func (o OpenAIChat) completion(call *Call, c Completion) jsonText {
	j := make(jsonText, 0, 640+outputLen(c)*9/8).chatHead(c, "chat.completion").raw(`,"system_fingerprint":null,"choices":[`)
	field := o.service(call.Model).thinkingField()
	for i, choice := range c.choices() {
		j = j.comma(i).raw(`{"index":`).int(i).raw(`,"message":`).chatMessage(call, choice, field).
			raw(`,"logprobs":null,"finish_reason":`).quote(call.chatFinish(choice)).raw(`}`)
	}
	return j.raw(`],"usage":`).chatUsage(c.reportedUsage()).raw("}")
}

// chatFinish returns the finish reason of a choice.
func (c *Call) chatFinish(choice Completion) string {
	finish := choice.FinishReason()
	if finish == llm.FinishToolCalls && c.legacy {
		return finishFunctionCall
	}
	return string(finish)
}

// chatMessage appends the message of a choice, with its thinking in a field of that name unless the name
// is empty. A message in the older form has at most one call.
func (j jsonText) chatMessage(call *Call, c Completion, thinkingField string) jsonText {
	j = j.raw(`{"role":"assistant","content":`)
	if c.Text == "" && (c.Refusal != "" || len(c.ToolCalls) > 0) {
		j = j.raw("null")
	} else {
		j = j.quote(c.Text)
	}
	j = j.raw(`,"refusal":`).quoteOrNull(c.Refusal)
	if thinkingField != "" && c.Thinking != "" {
		j = j.raw(`,"`).raw(thinkingField).raw(`":`).quote(c.Thinking)
	}
	switch {
	case len(c.ToolCalls) == 0:
	case call.legacy:
		t := c.ToolCalls[0]
		j = j.raw(`,"function_call":{"name":`).quote(t.Name).raw(`,"arguments":`).quote(t.Arguments).raw(`}`)
	default:
		j = j.raw(`,"tool_calls":[`)
		for i, t := range c.ToolCalls {
			shape := shapeOf(call, t.Name)
			j = j.comma(i).raw(`{"id":`).chatCall(shape, t, shape.written(t))
		}
		j = j.raw("]")
	}
	return j.raw(`}`)
}

// chatHead opens an object with the fields of every answer and chunk.
func (j jsonText) chatHead(c Completion, object string) jsonText {
	return j.raw(`{"id":`).quote(c.ID).raw(`,"object":"`).raw(object).raw(`","created":`).unix(c.Created).
		raw(`,"model":`).quote(c.Model).raw(`,"service_tier":"default"`)
}

// callShape is the form of a tool call in chat completions.
type callShape struct {
	kind  string // of the tool; also the field of the call
	field string // of the model's output
}

func shapeOf(call *Call, tool string) callShape {
	if call.kindOf(tool).item == itemCustomCall {
		return callShape{toolCustom, "input"}
	}
	return callShape{toolFunction, "arguments"}
}

// written returns the model's output: arguments in JSON, or the text for a custom tool.
func (s callShape) written(t llm.ToolCall) string {
	if s.kind == toolCustom {
		return customInput(t.Arguments)
	}
	return t.Arguments
}

// chatCall appends a tool call from its id's value on.
func (j jsonText) chatCall(s callShape, t llm.ToolCall, written string) jsonText {
	return j.quote(t.ID).raw(`,"type":"`).raw(s.kind).raw(`","`).raw(s.kind).raw(`":{"name":`).quote(t.Name).
		raw(`,"`).raw(s.field).raw(`":`).quote(written).raw(`}}`)
}

// chatUsage appends token counts. Unlike in llm.Usage, the prompt includes cached tokens.
func (j jsonText) chatUsage(u llm.Usage) jsonText {
	prompt := addUp(u.Input, u.CachedInput, u.CacheWrite)
	j = j.raw(`{"prompt_tokens":`).int(prompt).raw(`,"completion_tokens":`).int(u.Output).
		raw(`,"total_tokens":`).int(addUp(prompt, u.Output)).
		raw(`,"prompt_tokens_details":{"cached_tokens":`).int(u.CachedInput)
	if u.CacheWrite > 0 {
		j = j.raw(`,"cache_write_tokens":`).int(u.CacheWrite)
	}
	return j.raw(`},"completion_tokens_details":{"reasoning_tokens":`).int(u.Reasoning).raw(`}}`)
}

// outputLen returns the approximate size of the model's output in bytes.
func outputLen(c Completion) int {
	n := len(c.Text) + len(c.Refusal)
	for _, t := range c.ToolCalls {
		n += len(t.ID) + len(t.Name) + len(t.Arguments) + 100
	}
	for i := range c.More {
		n += outputLen(c.More[i])
	}
	return n
}
