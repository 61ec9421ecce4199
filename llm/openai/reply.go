package openai

import (
	"strings"

	goopenai "github.com/sashabaranov/go-openai"

	"github.com/rehearse-dev/rehearse/llm"
)

// read returns the Reply for an answer without streaming.
func (x *exchange) read(res goopenai.ChatCompletionResponse) (llm.Reply, *llm.Error) {
	reply := llm.Reply{Model: res.Model, Usage: usage(&res.Usage)}
	if len(res.Choices) == 0 {
		failed := x.malformed("the answer has no choices", x.raw)
		failed.Usage = reply.Usage
		return llm.Reply{}, failed
	}
	choice := res.Choices[0]
	reply.Text = text(choice.Message)
	reply.Finish = llm.FinishReason(choice.FinishReason)
	for _, c := range choice.Message.ToolCalls {
		reply.ToolCalls = append(reply.ToolCalls, llm.ToolCall{ID: c.ID, Name: c.Function.Name, Arguments: c.Function.Arguments})
	}
	return x.conclude(reply, choice.Message.Refusal)
}

// text joins the parts of servers that send a list.
func text(m goopenai.ChatCompletionMessage) string {
	if len(m.MultiContent) == 0 {
		return m.Content
	}
	var b strings.Builder
	for _, part := range m.MultiContent {
		b.WriteString(part.Text)
	}
	return b.String()
}

// conclude returns the reply, or an error if it was refused or has no finish reason,
// without which the answer may be cut.
func (x *exchange) conclude(reply llm.Reply, refusal string) (llm.Reply, *llm.Error) {
	var failed *llm.Error
	switch {
	case refusal != "":
		failed = x.fail(llm.Refused, "the model refuses: "+refusal, nil)
	case reply.Finish == llm.FinishContentFilter:
		failed = x.fail(llm.Refused, "the provider's content filter stopped the answer", nil)
	case reply.Finish == "" || reply.Finish == llm.FinishReason(goopenai.FinishReasonNull):
		failed = x.fail(llm.Malformed, "the answer has no finish reason", nil)
	default:
		return reply, nil
	}
	failed.Partial, failed.Usage = reply.Text, reply.Usage
	return llm.Reply{}, failed
}

// usage returns the usage with cached input subtracted from the input; nil if it was not reported.
func usage(u *goopenai.Usage) *llm.Usage {
	if u == nil || u.PromptTokens <= 0 && u.CompletionTokens <= 0 {
		return nil
	}
	out := &llm.Usage{Input: tokens(u.PromptTokens), Output: tokens(u.CompletionTokens), Source: llm.UsageReported}
	if d := u.PromptTokensDetails; d != nil {
		out.CachedInput = min(tokens(d.CachedTokens), out.Input)
		out.Input -= out.CachedInput
	}
	if d := u.CompletionTokensDetails; d != nil {
		out.Reasoning = min(tokens(d.ReasoningTokens), out.Output)
	}
	return out
}
