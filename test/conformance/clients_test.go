package conformance_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	community "github.com/sashabaranov/go-openai"

	official "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/shared"
)

// client is the interface of the specs to each library.
type client interface {
	chat(ctx context.Context, q question) (result, error)
	models(ctx context.Context) ([]string, error)
	embed(ctx context.Context, texts ...string) ([][]float64, error)
}

// question is a chat request. A stray tool result makes it invalid; text is "hi"
// unless given.
type question struct {
	stream, json, tool, stray bool
	text                      string
}

func (q question) prompt() string { return cmp.Or(q.text, "hi") }

// call is a tool call.
type call struct{ ID, Name, Arguments string }

// result is a chat answer.
type result struct {
	Text, Finish, Model string
	Calls               []call
	Input, Output       int
}

// apiError is the provider's error as parsed by a library.
type apiError struct {
	Status            int
	Type, Code, Param string
}

func (e apiError) Error() string {
	return fmt.Sprintf("status %d, type %q, code %q, param %q", e.Status, e.Type, e.Code, e.Param)
}

const (
	model    = "gpt-4.1-mini"
	toolName = "weather"
)

// clients are the libraries, by name.
var clients = map[string]func(base string, retries int) client{
	"openai-go": func(base string, retries int) client {
		return officialClient{official.NewClient(option.WithBaseURL(base), option.WithAPIKey("k"),
			option.WithHTTPClient(httpClient()), option.WithMaxRetries(retries))}
	},
	"go-openai": func(base string, _ int) client {
		cfg := community.DefaultConfig("k")
		cfg.BaseURL, cfg.HTTPClient = base, httpClient()
		return communityClient{community.NewClientWithConfig(cfg)}
	},
}

type officialClient struct{ api official.Client }

func (c officialClient) chat(ctx context.Context, q question) (result, error) {
	p := official.ChatCompletionNewParams{Model: model, Messages: []official.ChatCompletionMessageParamUnion{official.UserMessage(q.prompt())}}
	if q.stray {
		p.Messages = append(p.Messages, official.ToolMessage("x", "nobody-asked"))
	}
	if q.json {
		p.ResponseFormat.OfJSONObject = &shared.ResponseFormatJSONObjectParam{}
	}
	if q.tool {
		p.Tools = []official.ChatCompletionToolUnionParam{official.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{
			Name: toolName, Parameters: shared.FunctionParameters{"type": "object"},
		})}
	}
	res, err := c.send(ctx, p, q.stream)
	if err != nil {
		return result{}, err
	}
	return officialResult(*res), nil
}

// send sends a request, and returns the whole answer.
func (c officialClient) send(ctx context.Context, p official.ChatCompletionNewParams, streamed bool) (*official.ChatCompletion, error) {
	if !streamed {
		res, err := c.api.Chat.Completions.New(ctx, p)
		if err != nil {
			return nil, officialError(err)
		}
		return res, nil
	}
	p.StreamOptions.IncludeUsage = param.NewOpt(true)
	stream := c.api.Chat.Completions.NewStreaming(ctx, p)
	defer stream.Close()
	var all official.ChatCompletionAccumulator
	for stream.Next() {
		if !all.AddChunk(stream.Current()) {
			return nil, errors.New("a chunk does not follow from those before it")
		}
	}
	if stream.Err() != nil {
		return nil, officialError(stream.Err())
	}
	return &all.ChatCompletion, nil
}

func officialResult(res official.ChatCompletion) result {
	choice := res.Choices[0]
	out := result{
		Text: choice.Message.Content, Finish: choice.FinishReason, Model: res.Model,
		Input: int(res.Usage.PromptTokens), Output: int(res.Usage.CompletionTokens),
	}
	for _, c := range choice.Message.ToolCalls {
		out.Calls = append(out.Calls, call{c.ID, c.Function.Name, c.Function.Arguments})
	}
	return out
}

func officialError(err error) error {
	if e, ok := errors.AsType[*official.Error](err); ok {
		return apiError{e.StatusCode, e.Type, e.Code, e.Param}
	}
	return err
}

func (c officialClient) models(ctx context.Context) (ids []string, err error) {
	pages := c.api.Models.ListAutoPaging(ctx)
	for pages.Next() {
		ids = append(ids, pages.Current().ID)
	}
	return ids, pages.Err()
}

func (c officialClient) embed(ctx context.Context, texts ...string) (vectors [][]float64, err error) {
	res, err := c.api.Embeddings.New(ctx, official.EmbeddingNewParams{
		Model: "text-embedding-3-small", Dimensions: param.NewOpt[int64](4),
		Input: official.EmbeddingNewParamsInputUnion{OfArrayOfStrings: texts},
	})
	if err != nil {
		return nil, officialError(err)
	}
	for _, e := range res.Data {
		vectors = append(vectors, e.Embedding)
	}
	return vectors, nil
}

type communityClient struct{ api *community.Client }

func (c communityClient) chat(ctx context.Context, q question) (result, error) {
	p := community.ChatCompletionRequest{Model: model, Messages: []community.ChatCompletionMessage{{Role: "user", Content: q.prompt()}}}
	if q.stray {
		p.Messages = append(p.Messages, community.ChatCompletionMessage{Role: "tool", Content: "x", ToolCallID: "nobody-asked"})
	}
	if q.json {
		p.ResponseFormat = &community.ChatCompletionResponseFormat{Type: "json_object"}
	}
	if q.tool {
		p.Tools = []community.Tool{{Type: "function", Function: &community.FunctionDefinition{
			Name: toolName, Parameters: map[string]any{"type": "object"},
		}}}
	}
	return c.send(ctx, p, q.stream)
}

// send sends a request, and returns the whole answer.
func (c communityClient) send(ctx context.Context, p community.ChatCompletionRequest, streamed bool) (result, error) {
	if streamed {
		return c.stream(ctx, p)
	}
	res, err := c.api.CreateChatCompletion(ctx, p)
	if err != nil {
		return result{}, communityError(err)
	}
	choice := res.Choices[0]
	out := result{
		Text: choice.Message.Content, Finish: string(choice.FinishReason), Model: res.Model,
		Input: res.Usage.PromptTokens, Output: res.Usage.CompletionTokens,
	}
	for _, c := range choice.Message.ToolCalls {
		out.Calls = append(out.Calls, call{c.ID, c.Function.Name, c.Function.Arguments})
	}
	return out, nil
}

func (c communityClient) stream(ctx context.Context, p community.ChatCompletionRequest) (out result, err error) {
	p.StreamOptions = &community.StreamOptions{IncludeUsage: true}
	stream, err := c.api.CreateChatCompletionStream(ctx, p)
	if err != nil {
		return out, communityError(err)
	}
	defer stream.Close()
	for {
		chunk, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return out, communityError(err)
		}
		if u := chunk.Usage; u != nil {
			out.Input, out.Output = u.PromptTokens, u.CompletionTokens
		}
		out.Model = chunk.Model
		for _, choice := range chunk.Choices {
			out.Text += choice.Delta.Content
			out.Finish += string(choice.FinishReason)
			for _, part := range choice.Delta.ToolCalls {
				for *part.Index >= len(out.Calls) {
					out.Calls = append(out.Calls, call{})
				}
				at := &out.Calls[*part.Index]
				at.ID, at.Name, at.Arguments = at.ID+part.ID, at.Name+part.Function.Name, at.Arguments+part.Function.Arguments
			}
		}
	}
}

func communityError(err error) error {
	e, ok := errors.AsType[*community.APIError](err)
	if !ok {
		return err
	}
	out := apiError{Status: e.HTTPStatusCode, Type: e.Type}
	if e.Code != nil && e.Code != 0 { // the library reads null as 0
		out.Code = fmt.Sprint(e.Code)
	}
	if e.Param != nil {
		out.Param = *e.Param
	}
	return out
}

func (c communityClient) models(ctx context.Context) (ids []string, err error) {
	list, err := c.api.ListModels(ctx)
	for _, m := range list.Models {
		ids = append(ids, m.ID)
	}
	return ids, err
}

func (c communityClient) embed(ctx context.Context, texts ...string) (vectors [][]float64, err error) {
	res, err := c.api.CreateEmbeddings(ctx, community.EmbeddingRequest{Model: "text-embedding-3-small", Dimensions: 4, Input: texts})
	if err != nil {
		return nil, communityError(err)
	}
	for _, e := range res.Data {
		vector := make([]float64, len(e.Embedding))
		for i, x := range e.Embedding {
			vector[i] = float64(x)
		}
		vectors = append(vectors, vector)
	}
	return vectors, nil
}
