package openai

import (
	"encoding/json"
	"errors"
	"maps"
	"math"

	goopenai "github.com/sashabaranov/go-openai"

	"github.com/rehearse-dev/rehearse/llm"
)

// purposeKey is the metadata key of llm.Request.Purpose.
const purposeKey = "purpose"

// noParameters is the schema of a function without parameters, for which go-openai would send null.
var noParameters = json.RawMessage(`{"type":"object","properties":{}}`)

// dialect has the differences between servers.
type dialect struct {
	model    string // for requests without a model
	metadata bool   // purpose and tags are sent
	store    bool
	openai   bool // OpenAI's own API
}

// request converts req to the API's form.
func (d dialect) request(req llm.Request) goopenai.ChatCompletionRequest {
	out := goopenai.ChatCompletionRequest{
		Model:    req.Model,
		Messages: messages(req.Messages),
		Tools:    tools(req.Tools),
		Seed:     req.Seed,
		Stream:   req.Stream,
		Store:    d.store,
	}
	if out.Model == "" {
		out.Model = d.model
	}
	if d.metadata {
		out.Metadata = metadata(req)
	}
	if req.Stream {
		out.StreamOptions = &goopenai.StreamOptions{IncludeUsage: true}
	}
	if req.JSONMode {
		out.ResponseFormat = &goopenai.ChatCompletionResponseFormat{Type: goopenai.ChatCompletionResponseFormatTypeJSONObject}
	}
	if req.Temperature != nil {
		out.Temperature = temperature(*req.Temperature)
	}
	if req.MaxTokens > 0 {
		d.limit(&out, req.MaxTokens)
	}
	return out
}

// limit limits the output. OpenAI's API requires max_completion_tokens, and its reasoning models reject
// the older max_tokens on any server. Other servers often support only max_tokens and ignore unknown
// limits.
func (d dialect) limit(out *goopenai.ChatCompletionRequest, n int) {
	out.MaxTokens = n //nolint:staticcheck // the only cap that many servers know
	err := goopenai.NewReasoningValidator().Validate(*out)
	if d.openai || errors.Is(err, goopenai.ErrReasoningModelMaxTokensDeprecated) {
		out.MaxTokens, out.MaxCompletionTokens = 0, n //nolint:staticcheck // see above
	}
}

// temperature returns t for go-openai, which omits 0 and thereby requests the provider's default; 0 becomes
// the smallest positive number.
func temperature(t float64) float32 {
	if t == 0 {
		return math.SmallestNonzeroFloat32
	}
	return float32(t)
}

// metadata contains the purpose and the tags; a tag cannot replace the purpose.
func metadata(req llm.Request) map[string]string {
	if req.Purpose == "" && len(req.Tags) == 0 {
		return nil
	}
	m := make(map[string]string, len(req.Tags)+1)
	maps.Copy(m, req.Tags)
	if req.Purpose != "" {
		m[purposeKey] = req.Purpose
	}
	return m
}

func messages(in []llm.Message) []goopenai.ChatCompletionMessage {
	out := make([]goopenai.ChatCompletionMessage, len(in))
	for i, m := range in {
		content := m.Content
		if content == "" && len(m.ToolCalls) == 0 {
			// go-openai leaves an empty text out and the API requires one: the
			// shortest that it can send is a space.
			content = " "
		}
		out[i] = goopenai.ChatCompletionMessage{
			Role: string(m.Role), Content: content, Name: m.Name,
			ToolCallID: m.ToolCallID, ToolCalls: toolCalls(m.ToolCalls),
		}
	}
	return out
}

func toolCalls(in []llm.ToolCall) []goopenai.ToolCall {
	if len(in) == 0 {
		return nil
	}
	out := make([]goopenai.ToolCall, len(in))
	for i, c := range in {
		arguments := c.Arguments
		if arguments == "" {
			arguments = "{}" // required, and left out by go-openai if empty
		}
		out[i] = goopenai.ToolCall{
			ID: c.ID, Type: goopenai.ToolTypeFunction,
			Function: goopenai.FunctionCall{Name: c.Name, Arguments: arguments},
		}
	}
	return out
}

func tools(in []llm.Tool) []goopenai.Tool {
	if len(in) == 0 {
		return nil
	}
	out := make([]goopenai.Tool, len(in))
	for i, t := range in {
		parameters := t.Parameters
		if len(parameters) == 0 {
			parameters = noParameters
		}
		out[i] = goopenai.Tool{Type: goopenai.ToolTypeFunction, Function: &goopenai.FunctionDefinition{
			Name: t.Name, Description: t.Description, Parameters: parameters,
		}}
	}
	return out
}
