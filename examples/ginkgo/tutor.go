// Package tutor is an example of your own agent: it teaches with a model behind OpenAI's API,
// using the client go-openai, and gives the model a tool to look up words. It does not depend
// on rehearse.
package tutor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/sashabaranov/go-openai"
)

// maxCalls limits the calls to the model in one turn.
const maxCalls = 4

// Tutor teaches one lesson.
type Tutor struct {
	Client *openai.Client
	// Look returns the meaning of a word.
	Look func(word string) string

	history []openai.ChatCompletionMessage
}

// Answer answers a pupil.
func (t *Tutor) Answer(ctx context.Context, text string) (string, error) {
	t.history = append(t.history, openai.ChatCompletionMessage{Role: openai.ChatMessageRoleUser, Content: text})
	for range maxCalls {
		resp, err := t.Client.CreateChatCompletion(ctx, openai.ChatCompletionRequest{
			Model: "gpt-4.1-mini", Messages: t.history, Tools: tools,
			Metadata: map[string]string{"purpose": "teach"},
		})
		if err != nil {
			return "", fmt.Errorf("ask the model: %w", err)
		}
		if len(resp.Choices) == 0 {
			return "", errors.New("ask the model: the response has no answer")
		}
		reply := resp.Choices[0].Message
		t.history = append(t.history, reply)
		if len(reply.ToolCalls) == 0 {
			return reply.Content, nil
		}
		for _, call := range reply.ToolCalls {
			t.history = append(t.history, openai.ChatCompletionMessage{
				Role: openai.ChatMessageRoleTool, ToolCallID: call.ID, Content: t.use(call.Function),
			})
		}
	}
	return "", fmt.Errorf("the model was still looking up words after %d calls", maxCalls)
}

// use executes a tool call of the model and returns its result or the reason why it failed.
func (t *Tutor) use(call openai.FunctionCall) string {
	var args struct{ Word string }
	if err := json.Unmarshal([]byte(call.Arguments), &args); err != nil {
		return "the arguments are no JSON: " + err.Error()
	}
	return t.Look(args.Word)
}

var tools = []openai.Tool{{
	Type: openai.ToolTypeFunction,
	Function: &openai.FunctionDefinition{
		Name:        "look_up",
		Description: "Says what a word means.",
		Parameters: json.RawMessage(`{
			"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]
		}`),
	},
}}
