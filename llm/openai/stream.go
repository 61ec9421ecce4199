package openai

import (
	"context"
	"errors"
	"io"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	goopenai "github.com/sashabaranov/go-openai"

	"github.com/rehearse-dev/rehearse/llm"
)

// maxToolCalls limits the tool calls of one answer.
const maxToolCalls = 1024

// lenient allows duplicate names in an object, which some servers send. Invalid UTF-8 is still an error.
var lenient = jsontext.AllowDuplicateNames(true)

// chunk is one event of a stream.
type chunk struct {
	Model   string `json:"model"`
	Choices []struct {
		Index int `json:"index"`
		Delta struct {
			Content   string              `json:"content"`
			Refusal   string              `json:"refusal"`
			ToolCalls []goopenai.ToolCall `json:"tool_calls"`
		} `json:"delta"`
		Finish llm.FinishReason `json:"finish_reason"`
	} `json:"choices"`
	Usage *goopenai.Usage    `json:"usage"`
	Error *goopenai.APIError `json:"error"`
}

// stream requests a streamed answer and assembles it.
func (x *exchange) stream(
	ctx context.Context, client *goopenai.Client, req goopenai.ChatCompletionRequest, onText func(string),
) (llm.Reply, *llm.Error) {
	events, err := client.CreateChatCompletionStream(ctx, req)
	if err != nil {
		return llm.Reply{}, x.explain(err)
	}
	defer func() { _ = events.Close() }()
	var all assembly
	for {
		line, err := events.RecvRaw()
		if err != nil {
			return x.end(events, &all, err)
		}
		delta, failed := x.take(&all, line)
		if failed != nil {
			failed.Partial = all.text.String()
			return llm.Reply{}, failed
		}
		if delta != "" && onText != nil {
			x.final = true
			onText(delta)
		}
	}
}

// take adds one event to the answer and returns its text.
func (x *exchange) take(all *assembly, line []byte) (delta string, failed *llm.Error) {
	var c chunk
	if err := json.Unmarshal(line, &c, lenient); err != nil {
		// go-openai returns a nil line for an error event that was not one.
		return "", x.malformed("a stream event cannot be read: "+err.Error(), line)
	}
	if c.Error != nil {
		return "", x.apiError(0, c.Error)
	}
	delta, ok := all.add(&c)
	if !ok {
		return "", x.fail(llm.Malformed, "the answer has too many tool calls", nil)
	}
	return delta, nil
}

// end returns the result of a stream without further events.
func (x *exchange) end(events *goopenai.ChatCompletionStream, all *assembly, err error) (llm.Reply, *llm.Error) {
	var failed *llm.Error
	event, isEvent := errors.AsType[*goopenai.APIError](err)
	switch {
	case x.body.err != nil:
		failed = x.broken(x.body.err)
	case isEvent:
		failed = x.apiError(0, event)
	case !errors.Is(err, io.EOF):
		failed = x.fail(llm.Malformed, "the stream cannot be read: "+err.Error(), err)
	case all.finish == "" && !x.done(events):
		failed = x.fail(llm.Truncated, "the stream ended without a finish reason or [DONE]", io.ErrUnexpectedEOF)
	default:
		return x.conclude(all.reply(), all.refusal.String())
	}
	failed.Partial, failed.Usage = all.text.String(), usage(all.usage)
	return llm.Reply{}, failed
}

// done distinguishes a stream that ended with [DONE] from one that merely ended: go-openai
// reports both as io.EOF, but only in the first case reads the body no more.
func (x *exchange) done(events *goopenai.ChatCompletionStream) bool {
	before := x.body.reads
	_, _ = events.RecvRaw()
	return x.body.reads == before
}

// assembly is an answer under construction; the zero value is empty.
type assembly struct {
	model         string
	text, refusal strings.Builder
	calls         []callParts
	byIndex       map[int]int // the API's index → position in calls
	finish        llm.FinishReason
	usage         *goopenai.Usage
}

// callParts is a tool call under construction. Arguments come in many pieces.
type callParts struct {
	id, name  string
	arguments []byte
}

// add adds a chunk and returns its text; false if there are too many calls. Only the first choice counts,
// because only one is requested.
func (a *assembly) add(c *chunk) (delta string, ok bool) {
	if c.Model != "" {
		a.model = c.Model
	}
	if c.Usage != nil {
		a.usage = c.Usage // the last one counts, as some servers add them up
	}
	before := a.text.Len()
	for i := range c.Choices {
		choice := &c.Choices[i]
		if choice.Index != 0 {
			continue
		}
		a.text.WriteString(choice.Delta.Content)
		a.refusal.WriteString(choice.Delta.Refusal)
		for _, part := range choice.Delta.ToolCalls {
			if !a.addCall(part) {
				return "", false
			}
		}
		if choice.Finish != "" {
			a.finish = choice.Finish
		}
	}
	return a.text.String()[before:], true
}

// addCall adds a piece of a tool call: to the call of its index, or, from
// servers that send no index, to the last call unless it has a new id.
func (a *assembly) addCall(part goopenai.ToolCall) bool {
	at := len(a.calls)
	if part.Index != nil {
		if known, ok := a.byIndex[*part.Index]; ok {
			at = known
		}
	} else if at > 0 && (part.ID == "" || part.ID == a.calls[at-1].id) {
		at--
	}
	if at == len(a.calls) {
		if at == maxToolCalls {
			return false
		}
		a.calls = append(a.calls, callParts{})
	}
	if part.Index != nil {
		if a.byIndex == nil {
			a.byIndex = map[int]int{}
		}
		a.byIndex[*part.Index] = at
	}
	call := &a.calls[at]
	if call.id == "" {
		call.id = part.ID
	}
	if call.name == "" { // some servers repeat the name in every piece
		call.name = part.Function.Name
	}
	call.arguments = append(call.arguments, part.Function.Arguments...)
	return true
}

func (a *assembly) reply() llm.Reply {
	reply := llm.Reply{Text: a.text.String(), Finish: a.finish, Model: a.model, Usage: usage(a.usage)}
	for _, c := range a.calls {
		reply.ToolCalls = append(reply.ToolCalls, llm.ToolCall{ID: c.id, Name: c.name, Arguments: string(c.arguments)})
	}
	return reply
}
