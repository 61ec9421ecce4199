package conformance_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"

	anthropic "github.com/anthropics/anthropic-sdk-go"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	. "github.com/onsi/ginkgo/v2"
	official "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/responses"
	"github.com/openai/openai-go/v3/shared"
	community "github.com/sashabaranov/go-openai"
)

// goClients are the clients of Go in the tables, by name. They do what those of the folder node do.
var goClients = map[string]func(context.Context, *nodeCase) (nodeSeen, error){
	"go/chat": goChat, "go/responses": goResponses, "go/messages": goMessages, "go/community": goCommunity,
	"go/gemini": goGemini, "go/mcp": goMCP,
}

// goTimeout limits an answer, as node/mcp.mjs does.
const goTimeout = 3 * time.Second

// asksGo asks all questions with a client of Go.
func asksGo(ask func(context.Context, *nodeCase) (nodeSeen, error), cases []*nodeCase) map[string]nodeSeen {
	GinkgoHelper()
	seen := map[string]nodeSeen{}
	for _, c := range cases {
		ctx, cancel := context.WithTimeout(context.Background(), goTimeout)
		got, err := ask(ctx, c)
		cancel()
		if err != nil {
			got.Error, got.Message = fmt.Sprintf("%T", err), err.Error()
		}
		if e, ok := errors.AsType[apiError](err); ok {
			got.Status = e.Status
		}
		seen[c.Name] = got
	}
	return seen
}

// weatherSchema and forecastSchema are those of node/forecast.mjs.
var (
	weatherSchema  = objectSchema(map[string]any{"city": map[string]any{"type": "string"}}, "city")
	forecastSchema = objectSchema(map[string]any{
		"city": map[string]any{"type": "string"}, schemaField: map[string]any{"type": "number"},
	}, "city", schemaField)
)

func objectSchema(properties map[string]any, required ...string) map[string]any {
	return map[string]any{"type": "object", "properties": properties, "required": required, "additionalProperties": false}
}

// rain is the result of the tool, which shows the arguments.
func rain(arguments string) string {
	var a struct{ City string }
	if err := json.Unmarshal([]byte(arguments), &a); err != nil {
		return err.Error()
	}
	return "rain in " + a.City
}

func goChat(ctx context.Context, c *nodeCase) (nodeSeen, error) {
	p := official.ChatCompletionNewParams{Model: model, Messages: []official.ChatCompletionMessageParamUnion{official.UserMessage("hi")}}
	if c.Tool {
		p.Tools = []official.ChatCompletionToolUnionParam{official.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{
			Name: toolName, Parameters: weatherSchema,
		})}
	}
	if c.JSON {
		p.ResponseFormat.OfJSONSchema = &shared.ResponseFormatJSONSchemaParam{JSONSchema: shared.ResponseFormatJSONSchemaJSONSchemaParam{
			Name: "forecast", Schema: forecastSchema, Strict: param.NewOpt(true),
		}}
	}
	for {
		res, err := officialClient{gpt(c.Base, c.Retries)}.send(ctx, p, c.Stream)
		if err != nil {
			return nodeSeen{}, err
		}
		got := officialResult(*res)
		if len(got.Calls) == 0 {
			return nodeSeen{Text: got.Text, Finish: got.Finish, Output: got.Output}, nil
		}
		p.Messages = append(p.Messages, res.Choices[0].Message.ToParam(), official.ToolMessage(rain(got.Calls[0].Arguments), got.Calls[0].ID))
	}
}

func goResponses(ctx context.Context, c *nodeCase) (nodeSeen, error) {
	input := responses.ResponseInputParam{responses.ResponseInputItemParamOfMessage("hi", responses.EasyInputMessageRoleUser)}
	p := responses.ResponseNewParams{Model: model}
	if c.Tool {
		p.Tools = []responses.ToolUnionParam{{OfFunction: &responses.FunctionToolParam{
			Name: toolName, Parameters: weatherSchema, Strict: param.NewOpt(true),
		}}}
	}
	if c.JSON {
		p.Text.Format = responses.ResponseFormatTextConfigParamOfJSONSchema("forecast", forecastSchema)
	}
	for {
		p.Input = responses.ResponseNewParamsInputUnion{OfInputItemList: input}
		got, err := gptSends(ctx, gpt(c.Base, c.Retries), p, c.Stream)
		if err != nil || len(got.Calls) == 0 {
			return nodeSeen{Text: got.Text, Finish: got.Finish, Output: int(got.Output)}, err
		}
		asked := got.Calls[0]
		output := responses.ResponseInputItemParamOfFunctionCallOutput(rain(asked.Arguments))
		output.OfFunctionCallOutput.CallID = param.NewOpt(asked.ID)
		input = append(input, responses.ResponseInputItemParamOfFunctionCall(asked.Arguments, asked.ID, asked.Name), output)
	}
}

func goMessages(ctx context.Context, c *nodeCase) (nodeSeen, error) {
	p := anthropic.MessageNewParams{
		Model: model, MaxTokens: 100, Messages: []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock("hi"))},
	}
	if c.Tool {
		p.Tools = []anthropic.ToolUnionParam{{OfTool: &anthropic.ToolParam{
			Name: toolName, InputSchema: anthropic.ToolInputSchemaParam{Properties: weatherSchema["properties"], Required: []string{"city"}},
		}}}
	}
	if c.JSON {
		p.OutputConfig.Format.Schema = forecastSchema
	}
	for {
		m, err := claudeSends(ctx, claude(c.Base, c.Retries), p, c.Stream)
		got := claudeAnswer(m)
		if err != nil || len(got.Calls) == 0 {
			return nodeSeen{Text: got.Text, Finish: got.Finish, Output: int(got.Output)}, err
		}
		p.Messages = append(p.Messages, m.ToParam(),
			anthropic.NewUserMessage(anthropic.NewToolResultBlock(got.Calls[0].ID, rain(got.Calls[0].Arguments), false)))
	}
}

// goCommunity asks with a client that cannot retry.
func goCommunity(ctx context.Context, c *nodeCase) (nodeSeen, error) {
	p := community.ChatCompletionRequest{Model: model, Messages: []community.ChatCompletionMessage{{Role: "user", Content: "hi"}}}
	if c.Tool {
		p.Tools = []community.Tool{{Type: "function", Function: &community.FunctionDefinition{Name: toolName, Parameters: weatherSchema}}}
	}
	if c.JSON {
		schema, err := json.Marshal(forecastSchema)
		if err != nil {
			return nodeSeen{}, err
		}
		p.ResponseFormat = &community.ChatCompletionResponseFormat{
			Type:       "json_schema",
			JSONSchema: &community.ChatCompletionResponseFormatJSONSchema{Name: "forecast", Schema: json.RawMessage(schema), Strict: true},
		}
	}
	for {
		got, err := clients["go-openai"](c.Base, c.Retries).(communityClient).send(ctx, p, c.Stream)
		if err != nil || len(got.Calls) == 0 {
			return nodeSeen{Text: got.Text, Finish: got.Finish, Output: got.Output}, err
		}
		asked := got.Calls[0]
		p.Messages = append(p.Messages,
			community.ChatCompletionMessage{Role: "assistant", ToolCalls: []community.ToolCall{{
				ID: asked.ID, Type: "function", Function: community.FunctionCall{Name: asked.Name, Arguments: asked.Arguments},
			}}},
			community.ChatCompletionMessage{Role: "tool", Content: rain(asked.Arguments), ToolCallID: asked.ID})
	}
}

// goMCP calls the tool of an MCP server, or reads all that it offers.
func goMCP(ctx context.Context, c *nodeCase) (got nodeSeen, err error) {
	var transport sdk.Transport = &sdk.StreamableClientTransport{Endpoint: c.URL, MaxRetries: -1}
	if c.Command != nil {
		cmd := exec.Command(c.Command[0], c.Command[1:]...)
		cmd.Env = os.Environ()
		transport = &sdk.CommandTransport{Command: cmd}
	}
	session, err := sdk.NewClient(&sdk.Implementation{Name: "spec", Version: "1"}, nil).Connect(ctx, transport, nil)
	if err != nil {
		return got, err
	}
	defer session.Close()
	if c.Feature == "offers" {
		got.Text, err = goOffers(ctx, session)
		return got, err
	}
	result, err := session.CallTool(ctx, &sdk.CallToolParams{Name: "lookup", Arguments: map[string]any{"id": "1"}})
	if err != nil {
		return got, err
	}
	if result.IsError {
		got.Finish = "error"
	}
	if text, ok := result.Content[0].(*sdk.TextContent); ok {
		got.Text = text.Text
	}
	return got, nil
}

func goOffers(ctx context.Context, session *sdk.ClientSession) (string, error) {
	tools, err := session.ListTools(ctx, nil)
	if err != nil {
		return "", err
	}
	resource, err := session.ReadResource(ctx, &sdk.ReadResourceParams{URI: "ticket://1"})
	if err != nil {
		return "", err
	}
	prompt, err := session.GetPrompt(ctx, &sdk.GetPromptParams{Name: "triage"})
	if err != nil {
		return "", err
	}
	text, _ := prompt.Messages[0].Content.(*sdk.TextContent)
	return tools.Tools[0].Name + "|" + resource.Contents[0].Text + "|" + text.Text, nil
}
