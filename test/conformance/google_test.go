package conformance_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"google.golang.org/genai"

	"github.com/rehearse-dev/rehearse/mocks/wire"
)

// geminiModel requires thought signatures. It is that of node/clients.mjs.
const geminiModel = "gemini-3.1-pro-preview"

// gemini returns Google's official client. base is the base URL for OpenAI's clients, with /v1.
func gemini(ctx context.Context, base string, retries int) *genai.Client {
	GinkgoHelper()
	options := genai.HTTPOptions{BaseURL: base[:len(base)-len("/v1")]}
	if retries > 0 {
		options.RetryOptions = &genai.HTTPRetryOptions{Attempts: genai.Ptr(int32(retries + 1)), InitialDelay: genai.Ptr(0.02), Jitter: genai.Ptr(0.0)}
	}
	c, err := genai.NewClient(ctx, &genai.ClientConfig{APIKey: "k", Backend: genai.BackendGeminiAPI, HTTPClient: httpClient(), HTTPOptions: options})
	Expect(err).NotTo(HaveOccurred())
	return c
}

// geminiConfig offers the tool, with any arguments unless there is a schema.
func geminiConfig(schema any) *genai.GenerateContentConfig {
	return &genai.GenerateContentConfig{Tools: []*genai.Tool{{FunctionDeclarations: []*genai.FunctionDeclaration{{
		Name: toolName, ParametersJsonSchema: schema,
	}}}}}
}

func geminiAsks(ctx context.Context, c *genai.Client, stream bool) (answered, error) {
	got, _, err := geminiSends(ctx, c, genai.Text("hi"), geminiConfig(map[string]any{"type": "object"}), stream)
	return got, err
}

// geminiSends sends a request, and returns the answer, or what there is of one that was cut off, and its content.
func geminiSends(ctx context.Context, c *genai.Client, contents []*genai.Content, p *genai.GenerateContentConfig, stream bool) (
	got answered, content *genai.Content, err error,
) {
	content = &genai.Content{Role: genai.RoleModel}
	if !stream {
		r, err := c.Models.GenerateContent(ctx, geminiModel, contents, p)
		if err == nil {
			err = got.addGemini(r, content)
		}
		return got, content, geminiError(err)
	}
	for r, err := range c.Models.GenerateContentStream(ctx, geminiModel, contents, p) {
		if err == nil {
			err = got.addGemini(r, content)
		}
		if err != nil {
			return got, content, geminiError(err)
		}
	}
	return got, content, nil
}

// addGemini adds an answer or a chunk of a stream, and its parts to the content.
func (a *answered) addGemini(r *genai.GenerateContentResponse, content *genai.Content) error {
	if u := r.UsageMetadata; u != nil {
		a.Input, a.Cached, a.Output = int64(u.PromptTokenCount), int64(u.CachedContentTokenCount), int64(u.CandidatesTokenCount+u.ThoughtsTokenCount)
	}
	if len(r.Candidates) == 0 {
		return nil
	}
	if reason := r.Candidates[0].FinishReason; reason != "" {
		a.Finish = string(reason)
	}
	if r.Candidates[0].Content == nil {
		return nil
	}
	for _, part := range r.Candidates[0].Content.Parts {
		content.Parts = append(content.Parts, part)
		switch f := part.FunctionCall; {
		case f != nil:
			arguments, err := json.Marshal(f.Args)
			if err != nil {
				return err
			}
			a.Calls = append(a.Calls, call{f.ID, f.Name, string(arguments)})
		case part.Thought:
			a.Thinking += part.Text
		default:
			a.Text += part.Text
		}
	}
	return nil
}

func geminiError(err error) error {
	if e, ok := errors.AsType[genai.APIError](err); ok {
		return apiError{Status: e.Code, Type: e.Status}
	}
	return err
}

// goGemini asks for a text, calls the tool, or asks for JSON.
func goGemini(ctx context.Context, c *nodeCase) (nodeSeen, error) {
	p := &genai.GenerateContentConfig{}
	if c.Tool {
		p = geminiConfig(weatherSchema)
	}
	if c.JSON {
		p.ResponseMIMEType, p.ResponseJsonSchema = "application/json", forecastSchema
	}
	contents := genai.Text("hi")
	for {
		got, content, err := geminiSends(ctx, gemini(ctx, c.Base, c.Retries), contents, p, c.Stream)
		if err != nil || len(got.Calls) == 0 {
			return nodeSeen{Text: got.Text, Thinking: got.Thinking, Finish: got.Finish, Output: int(got.Output)}, err
		}
		result := genai.NewContentFromFunctionResponse(toolName, map[string]any{"output": rain(got.Calls[0].Arguments)}, genai.RoleUser)
		result.Parts[0].FunctionResponse.ID = got.Calls[0].ID
		contents = append(contents, content, result)
	}
}

var _ = Describe("Google's official client", Label("H-02"), func() {
	for _, stream := range []bool{false, true} {
		It(fmt.Sprintf("parses thoughts, texts, tool calls and usage, streamed: %t", stream), func(ctx context.Context) {
			base, report := serve(rich)
			got, err := geminiAsks(ctx, gemini(ctx, base, 0), stream)
			Expect(err).NotTo(HaveOccurred())
			Expect(got).To(Equal(answered{
				Thinking: "Let me think.", Text: "Hello, wörld 日本!", Finish: "STOP",
				Calls: []call{{"call_1", "weather", `{"city":"Zürich"}`}}, Input: 18, Cached: 5, Output: 7,
			}))
			Expect(report().Unused).To(BeEmpty())
		})

		DescribeTable(fmt.Sprintf("reports a status, streamed: %t", stream),
			func(ctx context.Context, status int, kind string) {
				base, report := serve(fault(status, 1))
				_, err := geminiAsks(ctx, gemini(ctx, base, 0), stream)
				Expect(err).To(Equal(apiError{Status: status, Type: kind}))
				Expect(report().Unfired).To(BeEmpty())
			},
			Entry("403", 403, "PERMISSION_DENIED"), Entry("429", 429, "RESOURCE_EXHAUSTED"),
			Entry("500", 500, "INTERNAL"), Entry("503", 503, "UNAVAILABLE"),
		)

		It(fmt.Sprintf("retries after a rate limit, streamed: %t", stream), func(ctx context.Context) {
			base, report := serve(fault(429, 1))
			got, err := geminiAsks(ctx, gemini(ctx, base, 1), stream)
			Expect(err).NotTo(HaveOccurred())
			Expect(got.Text).To(Equal("hello"))
			Expect(report().Calls).To(Equal(2))
		})

		It(fmt.Sprintf("does not repeat a call that the script does not expect, streamed: %t", stream), func(ctx context.Context) {
			base, report := serve("model: " + model + "\nreplies: [{text: hello, when: {user: bye}}]")
			_, err := geminiAsks(ctx, gemini(ctx, base, 2), stream)
			Expect(err).To(Equal(apiError{Status: 400, Type: "INVALID_ARGUMENT"}))
			Expect(report().Unexpected).To(HaveLen(1))
		})
	}

	It("lists models, describes one, counts tokens and embeds", func(ctx context.Context) {
		base, report := serve("model: " + model + "\nrules: [{text: hello, optional: true}]")
		c := gemini(ctx, base, 0)
		page, err := c.Models.List(ctx, nil)
		Expect(err).NotTo(HaveOccurred())
		Expect(page.Items).To(HaveExactElements(HaveField("Name", "models/"+model)))
		one, err := c.Models.Get(ctx, geminiModel, nil)
		Expect(err).NotTo(HaveOccurred())
		Expect(one.Name).To(Equal("models/" + geminiModel))
		_, err = c.Models.CountTokens(ctx, geminiModel, genai.Text("hi"), nil)
		Expect(err).NotTo(HaveOccurred())
		same, err := c.Models.EmbedContent(ctx, "gemini-embedding-001", slices.Concat(genai.Text("one"), genai.Text("one")), nil)
		Expect(err).NotTo(HaveOccurred())
		Expect(same.Embeddings).To(HaveLen(2))
		Expect(same.Embeddings[0].Values).To(And(HaveLen(3072), Equal(same.Embeddings[1].Values)))
		Expect(report().Unexpected).To(BeEmpty())
	})

	for _, kind := range wire.FaultKinds() {
		It("sees "+kind+" in a stream", func(ctx context.Context) {
			got, err, fired := withFault(ctx, kind, func(ctx context.Context, base string) (answered, error) {
				return geminiAsks(ctx, gemini(ctx, base, 0), true)
			})
			Expect(fired).To(BeTrue())
			geminiSees[kind](got, err)
		})
	}
})

// geminiSees has a row for each kind of fault.
var geminiSees = map[string]sees{
	"status":               failsWith(apiError{Status: 500, Type: "INTERNAL"}),
	"timeout":              failsWith(context.DeadlineExceeded),
	"reset-before-headers": fails,
	"reset-after-headers":  fails,
	"reset-mid-stream":     fails,
	"truncated-stream":     fails,
	"missing-done": func(got answered, err error) {
		Expect(err).NotTo(HaveOccurred())
		Expect(got.Finish).To(BeEmpty(), "only the missing chunk shows it")
	},
	"error-event":        fails,
	"malformed-json":     fails,
	"wrong-content-type": func(got answered, _ error) { Expect(got).To(BeZero()) },
	"empty-choices":      finishesWith("STOP", ""),
	"empty-text":         finishesWith("STOP", ""),
	"finish-length":      cutAt("MAX_TOKENS", `{}`),
	"content-filter":     finishesWith("SAFETY", ""),
	"refusal":            finishesWith("SAFETY", "I'm sorry, but I can't help with that."),
	"slow-drip":          whollySeen("STOP"),
	"duplicate-chunk":    func(got answered, _ error) { Expect(got.Text).To(Equal("hello my dear dear world")) },
	"wrong-usage": func(got answered, err error) {
		whollySeen("STOP")(got, err)
		Expect(got.Output).To(Equal(int64(1070)))
	},
	"invalid-tool-arguments": finishesWith("MALFORMED_FUNCTION_CALL", answer),
	"not-utf8":               func(got answered, _ error) { Expect(got.Text).To(Equal("\ufffd\ufffd" + answer)) },
}
