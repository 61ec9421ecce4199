package mocks_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/mocks"
	"github.com/rehearse-dev/rehearse/mocks/wire"
)

// protocols are those beside chat completions, each with a request that fits, and one that does not.
// A request to streams, if that is another path, is answered with a stream.
var protocols = []struct {
	wire.Reader
	path, streams string
	ask           func(stream bool) string
	bad           string
}{
	{wire.OpenAIResponses{}, "/responses", "/responses", func(stream bool) string {
		return chatless(stream, `"input":[{"role":"user","content":"hello"}],"tools":[{"type":"function","name":"f"}]`)
	}, `{"model":"m"}`},
	{wire.AnthropicMessages{}, "/messages?beta=true", "/messages?beta=true", func(stream bool) string {
		return chatless(stream, `"max_tokens":100,"messages":[{"role":"user","content":"hello"}],"tools":[{"name":"f","input_schema":{"type":"object"}}]`)
	}, `{"model":"m"}`},
	{wire.Gemini{}, "/models/m:generateContent", "/models/m:streamGenerateContent?alt=sse", func(bool) string {
		return `{"contents":[{"role":"user","parts":[{"text":"hello"}]}],"tools":[{"functionDeclarations":[{"name":"f"}]}]}`
	}, `{"contents":[]}`},
	{wire.Ollama{}, "/api/chat", "/api/chat", func(stream bool) string {
		return chatless(false, fmt.Sprintf(`"messages":[{"role":"user","content":"hello"}],"tools":[{"function":{"name":"f"}}],"stream":%t`, stream))
	}, `{"messages":[]}`},
	{wire.Ollama{Generate: true}, "/api/generate", "/api/generate", func(stream bool) string {
		return chatless(false, fmt.Sprintf(`"prompt":"hello","stream":%t`, stream))
	}, `{"model":"m","prompt":"a","think":1}`},
	{wire.Converse{Model: "m"}, "/model/m/converse", "/model/m/converse-stream", func(bool) string {
		return `{"messages":[{"role":"user","content":[{"text":"hello"}]}],"toolConfig":{"tools":[` + converseTool + `]}}`
	}, `{"messages":[]}`},
}

const converseTool = `{"toolSpec":{"name":"f","inputSchema":{"json":{"type":"object"}}}}`

func chatless(stream bool, members string) string {
	if stream {
		members += `,"stream":true`
	}
	return `{"model":"m",` + members + `}`
}

var _ = Describe("one contract for every protocol", Label("H-02"), func() {
	// asks posts the same request so often, with a deadline that a hanging server
	// runs into.
	asks := func(r *rig, path, body string, times int) (all []outcome) {
		for range times {
			ctx, cancel := r.clock.WithTimeout(context.Background(), 10*time.Minute)
			all = append(all, r.do(ctx, http.MethodPost, path, body, nil))
			cancel()
		}
		return all
	}
	both := func(c contractCase) ([]outcome, mocks.Report) {
		GinkgoHelper()
		near, nearReport := c.run(inProcess)
		far, farReport := c.run(overSocket)
		Expect(far).To(Equal(near))
		Expect(farReport).To(Equal(nearReport))
		return near, nearReport
	}

	for _, p := range protocols {
		for _, stream := range []bool{false, true} {
			how, path := " at once", p.path
			if stream {
				how, path = " streamed", p.streams
			}
			for _, kind := range wire.FaultKinds() {
				It(p.Protocol()+" shows "+kind+", then the same line's answer,"+how, func() {
					script := "replies: [{text: one two three four, thinking: hm, times: 2, tool_calls: [{name: f}], fault: " + kind + "}]"
					outcomes, report := both(contractCase{script, func(r *rig) []outcome { return asks(r, path, p.ask(stream), 2) }})
					Expect(report.Exchanges[0].Fault).To(Equal(kind))
					if report.Exchanges[0].Fired {
						Expect(report.Unfired).To(BeEmpty())
						Expect(outcomes[0]).NotTo(Equal(outcomes[1]))
					} else {
						Expect(stream).To(BeFalse(), "every fault can show in a stream")
						Expect(report.Unfired).To(ConsistOf(ContainSubstring(kind)))
					}
					Expect(outcomes[1].Status).To(Equal(http.StatusOK))
					Expect(report.Exchanges[1].Delivered).To(BeTrue())
					c, err := p.ReadAnswer(stream, []byte(outcomes[1].Body))
					Expect(err).NotTo(HaveOccurred())
					Expect(c.Text).To(Equal("one two three four"))
					Expect(c.Thinking).To(Equal("hm"))
					Expect(c.ToolCalls).To(HaveLen(1))
				})
			}

			It(p.Protocol()+" uses the ids, usage and latency of the script,"+how, func() {
				script := "replies: [{tool_calls: [{name: f, arguments: {a: 1}}, {name: f, id: mine}], latency: 3s," +
					" usage: {input: 7, cached_input: 3, cache_write: 2, output: 9, reasoning: 4}}]"
				outcomes, report := both(contractCase{script, func(r *rig) []outcome {
					begin := r.clock.Now()
					all := asks(r, path, p.ask(stream), 1)
					Expect(r.clock.Now().Sub(begin)).To(Equal(3 * time.Second))
					return all
				}})
				c, err := p.ReadAnswer(stream, []byte(outcomes[0].Body))
				Expect(err).NotTo(HaveOccurred())
				switch want := (llm.Usage{Input: 7, CachedInput: 3, CacheWrite: 2, Output: 9, Reasoning: 4, Source: llm.UsageReported}); p.Protocol() {
				case "ollama": // which has no id, and no details of the usage
					Expect(c.Usage).To(Equal(llm.Usage{Input: 12, Output: 9, Source: llm.UsageReported}))
				case "bedrock-converse": // which has no id
					want.Reasoning = 0
					Expect(c.Usage).To(Equal(want))
				case "gemini": // which does not report what was written to the cache
					want.Input, want.CacheWrite = 9, 0
					fallthrough
				default:
					Expect(c.Usage).To(Equal(want))
					Expect(c.ID).To(MatchRegexp(`^(resp_|msg_|gen-)[0-9a-z]+$`))
				}
				Expect(c.ToolCalls[0].ID).To(MatchRegexp(`^(call|toolu|tooluse)_[0-9a-z]+$`))
				Expect(c.ToolCalls[1].ID).To(Equal("mine"))
				Expect(c.Finish).To(Equal(llm.FinishToolCalls))
				Expect(report.Unused).To(BeEmpty())
			})
		}

		It(p.Protocol()+" refuses a call that is not in the script with the mismatch, and is not asked again", func() {
			outcomes, report := both(contractCase{"replies: [{text: a, when: {user: bye}}]", func(r *rig) []outcome {
				return asks(r, p.streams, p.ask(true), 1)
			}})
			Expect(outcomes[0].Status).To(Equal(http.StatusBadRequest))
			e := wire.ReadError(outcomes[0].Status, nil, []byte(outcomes[0].Body))
			Expect(e.Message).To(And(ContainSubstring("bye"), ContainSubstring("hello")))
			Expect(report.Unexpected).To(HaveLen(1))
		})

		It(p.Protocol()+" refuses what the provider would, and reports it", func() {
			outcomes, report := both(contractCase{"replies: [{text: a}]", func(r *rig) []outcome {
				return asks(r, p.path, p.bad, 1)
			}})
			Expect(outcomes[0].Status).To(Equal(http.StatusBadRequest))
			Expect(report.Invalid).To(HaveLen(1))
		})

		if p.path == "/api/generate" {
			continue // without tools and turns
		}
		It(p.Protocol()+" sees tools, results and turns as conditions do", func() {
			history := map[string]string{
				"openai-responses": `"input":[{"role":"user","content":"hello"},{"type":"function_call","call_id":"c","name":"f","arguments":"{}"},` +
					`{"type":"function_call_output","call_id":"c","output":"done: 7"}],"tools":[{"type":"function","name":"f"}]`,
				"anthropic-messages": `"max_tokens":9,"tools":[{"name":"f","input_schema":{}}],"messages":[{"role":"user","content":"hello"},` +
					`{"role":"assistant","content":[{"type":"tool_use","id":"c","name":"f","input":{}}]},` +
					`{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":"done: 7"}]}]`,
				"gemini": `"contents":[{"parts":[{"text":"hello"}]},{"role":"model","parts":[{"functionCall":{"name":"f"}}]},` +
					`{"parts":[{"functionResponse":{"name":"f","response":{"output":"done: 7"}}}]}],"tools":{"function_declarations":{"name":"f"}}`,
				"ollama": `"tools":[{"type":"function","function":{"name":"f","parameters":{}}}],"messages":[{"role":"user","content":"hello"},` +
					`{"role":"assistant","content":"","tool_calls":[{"function":{"name":"f","arguments":{}}}]},` +
					`{"role":"tool","tool_name":"f","content":"done: 7"}]`,
				"bedrock-converse": `"toolConfig":{"tools":[` + converseTool + `]},"messages":[{"role":"user","content":[{"text":"hello"}]},` +
					`{"role":"assistant","content":[{"toolUse":{"toolUseId":"c","name":"f","input":{}}}]},` +
					`{"role":"user","content":[{"toolResult":{"toolUseId":"c","content":[{"text":"done: 7"}]}}]}]`,
			}
			outcomes, _ := both(contractCase{"rules: [{text: a, when: {tool_offered: f, tool_result: 'done: 7', turn: 1, user: hello}}]", func(r *rig) []outcome {
				return asks(r, p.path, chatless(false, history[p.Protocol()]), 1)
			}})
			Expect(outcomes[0].Status).To(Equal(http.StatusOK), outcomes[0].Body)
		})
	}

	It("answers the other endpoints of Ollama", func() {
		outcomes, report := both(contractCase{"{model: qwen3, replies: [{text: a}]}", func(r *rig) (all []outcome) {
			for _, c := range [][3]string{
				{"GET", "/api/version", ""},
				{"GET", "/api/tags", ""},
				{"GET", "/api/ps", ""},
				{"POST", "/api/show", `{"model":"x"}`},
				{"POST", "/api/show", `{}`},
				{"POST", "/api/chat", `{"model":"x"}`},
				{"POST", "/api/generate", `{"model":"x","keep_alive":0}`},
				{"POST", "/api/embed", `{"model":"x","input":["four","sixteen letters!"],"dimensions":2}`},
				{"POST", "/api/embed", `{"model":"x","input":[1]}`},
				{"POST", "/api/embed", `{"input":"a"}`},
				{"POST", "/api/embeddings", `{"model":"x","prompt":"four"}`},
				{"GET", "/api/chat", ""},
				{"POST", "/api/pull", `{"model":"x"}`},
			} {
				all = append(all, r.do(context.Background(), c[0], c[1], c[2], nil))
			}
			return append(all, r.do(context.Background(), "POST", "/api/nothing", "{}", nil))
		}})
		var statuses []int
		for _, o := range outcomes {
			statuses = append(statuses, o.Status)
		}
		Expect(statuses).To(Equal([]int{200, 200, 200, 200, 400, 200, 200, 200, 400, 404, 200, 405, 404, 404}))
		Expect(outcomes[0].Body).To(MatchJSON(`{"version":"0.17.4"}`))
		Expect(outcomes[1].Body).To(ContainSubstring(`"model":"qwen3"`))
		Expect(outcomes[3].Body).To(ContainSubstring(`"capabilities":["completion","tools",`))
		Expect(outcomes[4].Body).To(MatchJSON(`{"error":"model is required"}`))
		Expect(outcomes[5].Body).To(And(ContainSubstring(`"message":{"role":"assistant","content":""}`), ContainSubstring(`"done_reason":"load"`)))
		Expect(outcomes[6].Body).To(And(ContainSubstring(`"response":""`), ContainSubstring(`"done_reason":"unload"`)))
		var embedded struct {
			Embeddings [][]float64
			Prompt     int `json:"prompt_eval_count"`
		}
		Expect(json.Unmarshal([]byte(outcomes[7].Body), &embedded)).To(Succeed())
		Expect(embedded.Embeddings).To(HaveExactElements(HaveLen(2), HaveLen(2)))
		Expect(embedded.Prompt).To(Equal(5))
		Expect(outcomes[9].Body).To(MatchJSON(`{"error":"model '' not found"}`))
		Expect(outcomes[11].Body).To(ContainSubstring(`{"error":"Not allowed to GET`))
		Expect(report.Calls).To(BeZero())
		Expect(report.Unexpected).To(HaveLen(3))
	})

	It("answers unknown operations of Bedrock in its form", func() {
		outcomes, report := both(contractCase{"replies: [{text: a}]", func(r *rig) []outcome {
			ctx := context.Background()
			return []outcome{
				r.do(ctx, "GET", "/model/m/converse", "", nil),
				r.do(ctx, "POST", "/model/m/invoke", "{}", nil),
				r.do(ctx, "POST", "/model/arn%3Aaws%3Ax%2Fy/converse", `{"messages":[{"role":"user","content":[{"text":"hello"}]}]}`, nil),
			}
		}})
		Expect(outcomes[0].Body).To(HavePrefix(`{"message":"Not allowed to GET`))
		Expect(outcomes[1].Body).To(HavePrefix(`{"message":"Unknown request URL`))
		Expect(outcomes[2].Status).To(Equal(200), outcomes[2].Body)
		Expect(report.Unexpected).To(HaveLen(2))
		Expect(report.Calls).To(Equal(1))
	})

	It("names the mistake in a base URL that ends in /v1", func() {
		outcomes, _ := both(contractCase{"replies: [{text: a}]", func(r *rig) []outcome {
			return []outcome{r.do(context.Background(), "POST", "/v1/api/chat", `{}`, nil)}
		}})
		Expect(outcomes[0].Body).To(ContainSubstring("ends in /v1, which this protocol does not use"))
	})

	It("follows the betas of a request to Messages", func() {
		body := `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"hi"},{"role":"system","content":"Be brief."}]}`
		outcomes, _ := both(contractCase{"replies: [{text: a, when: {system: brief}}]", func(r *rig) []outcome {
			beta := http.Header{"Anthropic-Beta": {"x", "mid-conversation-system-2026-04-07"}}
			return []outcome{
				r.do(context.Background(), "POST", "/messages", body, nil), r.do(context.Background(), "POST", "/messages", body, beta),
				r.do(context.Background(), "POST", "/messages/count_tokens", body, beta),
			}
		}})
		Expect([]int{outcomes[0].Status, outcomes[1].Status, outcomes[2].Status}).To(Equal([]int{400, 200, 200}))
	})

	It("answers models, counts, embeddings and wrong paths of Gemini", func() {
		outcomes, report := both(contractCase{"{model: gemini-3.1-pro, replies: [{text: one two}]}", func(r *rig) []outcome {
			ctx, key := context.Background(), http.Header{"X-Goog-Api-Key": {"k"}}
			r.base = strings.TrimSuffix(r.base, "/v1")
			do := func(method, path, body string) outcome { return r.do(ctx, method, "/v1beta/"+path, body, key) }
			return []outcome{
				do("GET", "models", ""), do("GET", "models/gemini-x", ""),
				do("POST", "models/m:countTokens", `{"contents":[{"parts":[{"text":"sixteen letters!"}]}]}`),
				do("POST", "models/m:countTokens", `{"generateContentRequest":{"contents":[{"parts":[{"text":"sixteen letters!"}]}]}}`),
				do("POST", "models/m:embedContent", `{"content":{"parts":[{"text":"a"}]},"outputDimensionality":2}`),
				do("POST", "models/m:batchEmbedContents", `{"requests":[{"content":{"parts":[{"text":"a"}]},"output_dimensionality":2}]}`),
				do("POST", "models/m:batchEmbedContents", `{"requests":[]}`),
				do("POST", "models/m:predict", `{}`), do("GET", "models/m:generateContent", ""), do("GET", "files", ""),
				r.do(ctx, "GET", "/v1/models", "", key),
				do("POST", "models/m:streamGenerateContent", `{"contents":{"parts":{"text":"hi"}}}`),
				do("POST", "models/m:streamGenerateContent", `{"contents":{"parts":{"text":"again"}}}`),
			}
		}})
		var statuses []int
		for _, o := range outcomes {
			statuses = append(statuses, o.Status)
		}
		Expect(statuses).To(Equal([]int{200, 200, 200, 200, 200, 200, 400, 404, 405, 404, 200, 200, 400}))
		Expect(outcomes[0].Body).To(HavePrefix(`{"models":[{"name":"models/gemini-3.1-pro","version":`))
		Expect(outcomes[1].Body).To(HavePrefix(`{"name":"models/gemini-x"`))
		for _, i := range []int{2, 3} {
			Expect(outcomes[i].Body).To(MatchJSON(`{"totalTokens":4,"promptTokensDetails":[{"modality":"TEXT","tokenCount":4}]}`))
		}
		Expect(outcomes[4].Body).To(MatchRegexp(`^{"embedding":{"values":\[[-0-9.]+,[-0-9.]+\]}}$`))
		Expect(outcomes[5].Body).To(Equal(`{"embeddings":[` + strings.TrimPrefix(outcomes[4].Body, `{"embedding":`)[:len(outcomes[4].Body)-len(`{"embedding":}`)] + `]}`))
		for _, i := range []int{6, 7, 8, 9} {
			Expect(outcomes[i].Body).To(HavePrefix(`{"error":{"code":`), "%d", i)
		}
		Expect(outcomes[10].Body).To(Equal(outcomes[0].Body))
		c, err := wire.Gemini{}.ReadAnswer(false, []byte(outcomes[11].Body))
		Expect(err).NotTo(HaveOccurred())
		Expect(c.Text).To(Equal("one two"))
		Expect(strings.Count(outcomes[11].Body, `"candidates"`)).To(Equal(3))
		Expect(outcomes[12].Body).To(And(HavePrefix(`[{"error":{"code":400`), HaveSuffix("]")))
		Expect(report.Unexpected).To(HaveLen(4))
		Expect(report.Calls).To(Equal(2))
	})

	It("answers Gemini at the paths of Vertex AI", func() {
		const project = "projects/p/locations/global/publishers/google/models/gemini-3.1-pro:"
		const request = `{"contents":[{"role":"user","parts":[{"text":"sixteen letters!"}]}]}`
		outcomes, report := both(contractCase{"rules: [{when: {model: gemini-3.1-pro}, text: one two}]", func(r *rig) []outcome {
			r.base = strings.TrimSuffix(r.base, "/v1")
			token := http.Header{"Authorization": {"Bearer t"}}
			do := func(path string) outcome { return r.do(context.Background(), "POST", path, request, token) }
			return []outcome{
				do("/v1/" + project + "generateContent"), do("/v1beta1/" + project + "streamGenerateContent?alt=sse"),
				do("/v1beta1/publishers/google/models/gemini-3.1-pro:generateContent"), do("/v1/" + project + "countTokens"),
				do("/v1/" + project + "predict"), do("/v1/" + strings.Replace(project, "google", "anthropic", 1) + "generateContent"),
			}
		}})
		for i, o := range outcomes[:3] {
			Expect(o.Status).To(Equal(200))
			c, err := wire.Gemini{}.ReadAnswer(i == 1, []byte(o.Body))
			Expect(err).NotTo(HaveOccurred())
			Expect(c.Text).To(Equal("one two"))
		}
		Expect(outcomes[3].Body).To(ContainSubstring(`"totalTokens":4`))
		Expect([]int{outcomes[4].Status, outcomes[5].Status}).To(Equal([]int{404, 404}))
		Expect(report.Calls).To(Equal(3))
		Expect(report.Unexpected).To(HaveLen(2))
	})

	It("counts thoughts as output that is not shown", func() {
		r := inProcess(compile("replies: [{text: four, thinking: sixteen letters!}]"), mocks.EngineOptions{Count: countBytes})
		c, err := wire.OpenAIResponses{}.ReadAnswer(false, []byte(asks(r, "/responses", protocols[0].ask(false), 1)[0].Body))
		Expect(err).NotTo(HaveOccurred())
		Expect(c.Usage.Output).To(Equal(5))
		Expect(c.Usage.Reasoning).To(Equal(4))
	})

	It("answers models, counts and wrong paths in the shape of the client's provider", func() {
		outcomes, report := both(contractCase{"{model: gpt-4.1-mini, replies: [{text: a}]}", func(r *rig) []outcome {
			ctx, claude := context.Background(), http.Header{"Anthropic-Version": {"2023-06-01"}}
			return []outcome{
				r.do(ctx, "GET", "/models", "", claude),
				r.do(ctx, "GET", "/models/claude-x", "", claude),
				r.do(ctx, "GET", "/models/gpt-x", "", nil),
				r.do(ctx, "POST", "/messages/count_tokens?beta=true", `{"model":"m","messages":[{"role":"user","content":"sixteen letters!"}]}`, claude),
				r.do(ctx, "POST", "/messages/count_tokens", `{"model":"m"}`, claude),
				r.do(ctx, "POST", "/responses/input_tokens", `{"model":"m","input":"sixteen letters!"}`, nil),
				r.do(ctx, "POST", "/responses/input_tokens", `{}`, nil),
				r.do(ctx, "GET", "/messages", "", nil),
				r.do(ctx, "POST", "/nothing", "{}", claude),
				r.do(ctx, "POST", "/models/gpt-x", "{}", nil),
			}
		}})
		var statuses []int
		for _, o := range outcomes {
			statuses = append(statuses, o.Status)
		}
		Expect(statuses).To(Equal([]int{200, 200, 200, 200, 400, 200, 400, 405, 404, 405}))
		Expect(outcomes[0].Body).To(MatchJSON(`{"data":[{"type":"model","id":"gpt-4.1-mini","display_name":"gpt-4.1-mini","created_at":"` +
			created(outcomes[0].Body) + `"}],"has_more":false,"first_id":"gpt-4.1-mini","last_id":"gpt-4.1-mini"}`))
		Expect(outcomes[1].Body).To(ContainSubstring(`"id":"claude-x"`))
		Expect(outcomes[2].Body).To(ContainSubstring(`"object":"model"`))
		Expect(outcomes[3].Body).To(MatchJSON(`{"input_tokens":4}`))
		Expect(outcomes[5].Body).To(MatchJSON(`{"object":"response.input_tokens","input_tokens":4}`))
		for _, i := range []int{4, 7, 8} {
			Expect(outcomes[i].Body).To(HavePrefix(`{"type":"error","error":{"type":`), "%d", i)
		}
		Expect(outcomes[8].Body).To(ContainSubstring("not_found_error"))
		Expect(outcomes[6].Body).To(HavePrefix(`{"error":{"message":`))
		Expect(report.Calls).To(BeZero())
	})
})

// created is the time in a description of a model.
func created(body string) string {
	_, rest, _ := strings.Cut(body, `"created_at":"`)
	text, _, _ := strings.Cut(rest, `"`)
	_, err := time.Parse(time.RFC3339, text)
	Expect(err).NotTo(HaveOccurred())
	return text
}
