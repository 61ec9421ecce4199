package mocks_test

import (
	"context"
	"net/http"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/mocks"
	"github.com/rehearse-dev/rehearse/mocks/wire"
)

// protocols are those beside chat completions, each with a request that fits.
var protocols = []struct {
	wire.Reader
	path string
	ask  func(stream bool) string
}{
	{wire.OpenAIResponses{}, "/responses", func(stream bool) string {
		return chatless(stream, `"input":[{"role":"user","content":"hello"}],"tools":[{"type":"function","name":"f"}]`)
	}},
	{wire.AnthropicMessages{}, "/messages?beta=true", func(stream bool) string {
		return chatless(stream, `"max_tokens":100,"messages":[{"role":"user","content":"hello"}],"tools":[{"name":"f","input_schema":{"type":"object"}}]`)
	}},
}

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
			how := map[bool]string{false: " at once", true: " streamed"}[stream]
			for _, kind := range wire.FaultKinds() {
				It(p.Protocol()+" shows "+kind+", then the same line's answer,"+how, func() {
					script := "replies: [{text: one two three four, thinking: hm, times: 2, tool_calls: [{name: f}], fault: " + kind + "}]"
					outcomes, report := both(contractCase{script, func(r *rig) []outcome { return asks(r, p.path, p.ask(stream), 2) }})
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
					all := asks(r, p.path, p.ask(stream), 1)
					Expect(r.clock.Now().Sub(begin)).To(Equal(3 * time.Second))
					return all
				}})
				c, err := p.ReadAnswer(stream, []byte(outcomes[0].Body))
				Expect(err).NotTo(HaveOccurred())
				Expect(c.Usage).To(Equal(llm.Usage{Input: 7, CachedInput: 3, CacheWrite: 2, Output: 9, Reasoning: 4, Source: llm.UsageReported}))
				Expect(c.ID).To(MatchRegexp(`^(resp|msg)_[0-9a-z]+$`))
				Expect(c.ToolCalls[0].ID).To(MatchRegexp(`^(call|toolu)_[0-9a-z]+$`))
				Expect(c.ToolCalls[1].ID).To(Equal("mine"))
				Expect(c.Finish).To(Equal(llm.FinishToolCalls))
				Expect(report.Unused).To(BeEmpty())
			})
		}

		It(p.Protocol()+" refuses a call that is not in the script with the mismatch, and is not asked again", func() {
			outcomes, report := both(contractCase{"replies: [{text: a, when: {user: bye}}]", func(r *rig) []outcome {
				return asks(r, p.path, p.ask(true), 1)
			}})
			Expect(outcomes[0].Status).To(Equal(http.StatusBadRequest))
			e := wire.ReadError(outcomes[0].Status, nil, []byte(outcomes[0].Body))
			Expect(e.Message).To(And(ContainSubstring("bye"), ContainSubstring("hello")))
			Expect(report.Unexpected).To(HaveLen(1))
		})

		It(p.Protocol()+" refuses what the provider would, and reports it", func() {
			outcomes, report := both(contractCase{"replies: [{text: a}]", func(r *rig) []outcome {
				return asks(r, p.path, `{"model":"m"}`, 1)
			}})
			Expect(outcomes[0].Status).To(Equal(http.StatusBadRequest))
			Expect(report.Invalid).To(HaveLen(1))
		})

		It(p.Protocol()+" sees tools, results and turns as conditions do", func() {
			history := map[string]string{
				"openai-responses": `"input":[{"role":"user","content":"hello"},{"type":"function_call","call_id":"c","name":"f","arguments":"{}"},` +
					`{"type":"function_call_output","call_id":"c","output":"done: 7"}],"tools":[{"type":"function","name":"f"}]`,
				"anthropic-messages": `"max_tokens":9,"tools":[{"name":"f","input_schema":{}}],"messages":[{"role":"user","content":"hello"},` +
					`{"role":"assistant","content":[{"type":"tool_use","id":"c","name":"f","input":{}}]},` +
					`{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":"done: 7"}]}]`,
			}
			outcomes, _ := both(contractCase{"rules: [{text: a, when: {tool_offered: f, tool_result: 'done: 7', turn: 1, user: hello}}]", func(r *rig) []outcome {
				return asks(r, p.path, chatless(false, history[p.Protocol()]), 1)
			}})
			Expect(outcomes[0].Status).To(Equal(http.StatusOK), outcomes[0].Body)
		})
	}

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
