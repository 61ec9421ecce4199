package mocks_test

import (
	"bufio"
	"context"
	"net/http"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/mocks"
	"github.com/rehearse-dev/rehearse/mocks/wire"
)

// Every case runs in process and over a socket; clients must see the same bytes
// and errors, and the engine must report the same.
type contractCase struct {
	script string
	play   func(*rig) []outcome
}

func (c contractCase) run(connect func(*mocks.Program, mocks.EngineOptions) *rig) ([]outcome, mocks.Report) {
	GinkgoHelper()
	r := connect(compile(c.script), mocks.EngineOptions{Seed: 5, Count: countBytes})
	outcomes := c.play(r)
	r.settle()
	return outcomes, r.engine.Report()
}

// twice asks twice, with a deadline that a hanging server runs into.
func twice(stream bool) func(*rig) []outcome {
	return func(r *rig) []outcome {
		var all []outcome
		for range 2 {
			ctx, cancel := r.clock.WithTimeout(context.Background(), 10*time.Minute)
			fields := map[string]any{"stream": stream}
			if stream {
				fields["stream_options"] = map[string]any{"include_usage": true}
			}
			all = append(all, r.post(ctx, chat(fields, user("hello"))))
			cancel()
		}
		return all
	}
}

var _ = Describe("one contract, two ways in", Label("H-02"), func() {
	both := func(c contractCase) ([]outcome, mocks.Report) {
		GinkgoHelper()
		near, nearReport := c.run(inProcess)
		far, farReport := c.run(overSocket)
		Expect(far).To(Equal(near))
		Expect(farReport).To(Equal(nearReport))
		return near, nearReport
	}

	for _, kind := range wire.FaultKinds() {
		for _, stream := range []bool{false, true} {
			how := map[bool]string{false: "at once", true: "streamed"}[stream]
			It("shows "+kind+", then the same line's answer, "+how, func() {
				c := contractCase{"replies: [{text: one two three four, times: 2, tool_calls: [{name: f}], fault: " + kind + "}]", twice(stream)}
				outcomes, report := both(c)
				Expect(report.Exchanges[0].Fault).To(Equal(kind))
				if !report.Exchanges[0].Fired {
					Expect(report.Unfired).To(ConsistOf(ContainSubstring(kind)))
					Expect(report.Unused).To(BeEmpty(), "an unharmed answer consumes its line")
					Expect(stream).To(BeFalse(), "every fault can show in a stream")
					return
				}
				Expect(report.Unfired).To(BeEmpty())
				harmless := kind == "slow-drip" || kind == "duplicate-chunk" || kind == "wrong-usage"
				if harmless {
					Expect(report.Unused).To(BeEmpty())
				} else {
					Expect(outcomes[0]).NotTo(Equal(outcomes[1]))
					Expect(report.Unused).To(ConsistOf("replies[0]: 1 of 2 left"))
				}
				Expect(outcomes[1].Status).To(Equal(http.StatusOK))
				Expect(report.Exchanges[1].Delivered).To(BeTrue())
			})
			It("consumes a line that is nothing but "+kind+", "+how, func() {
				outcomes, report := both(contractCase{"replies: [{fault: " + kind + "}, {text: fine}]", twice(stream)})
				Expect(report.Exchanges[1].Line).To(Equal("replies[1]"))
				Expect(report.Unused).To(BeEmpty())
				Expect(outcomes[1].Status).To(Equal(http.StatusOK))
			})
		}
	}

	It("answers text, tool calls and refusals at once and streamed", func() {
		script := `
model: gpt-4.1-mini
replies:
  - {text: "Hello, \"world\"", latency: {first: 1s, per_token: 20ms, jitter: 0.5}}
  - tool_calls: [{name: search, arguments: {q: weather}}, {name: f, id: mine}]
  - {refusal: I will not., finish: content_filter}
  - {text: cut, finish: length, usage: {input: 7, cached_input: 3, output: 9, reasoning: 4}}`
		for _, stream := range []bool{false, true} {
			fields := map[string]any{"stream": stream}
			if stream {
				fields["stream_options"] = map[string]any{"include_usage": true}
			}
			outcomes, report := both(contractCase{script, func(r *rig) (all []outcome) {
				for range 4 {
					all = append(all, r.post(context.Background(), chat(fields, user("hi"))))
				}
				return all
			}})
			Expect(outcomes[0].Body).To(ContainSubstring("gpt-4.1-mini"))
			Expect(outcomes[1].Body).To(And(ContainSubstring("search"), ContainSubstring(`"mine"`), ContainSubstring(`"finish_reason":"tool_calls"`)))
			Expect(outcomes[2].Body).To(ContainSubstring(`"finish_reason":"content_filter"`))
			Expect(outcomes[3].Body).To(And(ContainSubstring(`"finish_reason":"length"`), ContainSubstring(`"completion_tokens":9`)))
			Expect(report.Exchanges).To(HaveEach(HaveField("Delivered", true)))
			Expect(report.Unused).To(BeEmpty())
		}
	})

	It("answers models, embeddings, health checks and wrong paths", func() {
		outcomes, report := both(contractCase{"{model: gpt-4.1-mini, replies: [{text: a}]}", func(r *rig) []outcome {
			ctx := context.Background()
			all := []outcome{
				r.do(ctx, "GET", "/models", "", nil),
				r.do(ctx, "POST", "/embeddings", `{"model":"e","input":["a","b"],"dimensions":4}`, nil),
				r.do(ctx, "POST", "/embeddings", `{"input":1}`, nil),
				r.do(ctx, "GET", "/chat/completions", "", nil),
				r.do(ctx, "POST", "/nothing", "{}", nil),
			}
			base := r.base
			r.base = strings.TrimSuffix(r.base, "/v1")
			defer func() { r.base = base }()
			return append(all, r.do(ctx, "HEAD", "/", "", nil), r.do(ctx, "GET", "/v2", "", nil))
		}})
		var statuses []int
		for _, o := range outcomes {
			statuses = append(statuses, o.Status)
		}
		Expect(statuses).To(Equal([]int{200, 200, 400, 405, 404, 200, 404}))
		Expect(outcomes[0].Body).To(ContainSubstring("gpt-4.1-mini"))
		Expect(outcomes[3].Body).To(ContainSubstring(`"error"`))
		Expect(report.Calls).To(BeZero())
	})

	It("refuses a body that is too large", func() {
		outcomes, report := both(contractCase{"replies: [{text: a}]", func(r *rig) []outcome {
			request, err := http.NewRequest("POST", r.base+"/chat/completions", bufio.NewReader(zeros{}))
			Expect(err).NotTo(HaveOccurred())
			request.ContentLength = 33 << 20
			response, err := r.client.Do(request)
			if err != nil {
				return []outcome{{Err: "refused"}}
			}
			defer response.Body.Close()
			return []outcome{{Status: response.StatusCode}}
		}})
		Expect(outcomes[0].Status).To(Equal(http.StatusRequestEntityTooLarge))
		Expect(report.Calls).To(BeZero())
	})
})

// zeros never ends.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}
