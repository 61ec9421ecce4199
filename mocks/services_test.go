package mocks_test

import (
	"context"
	"encoding/json"
	"net/http"
	"regexp"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/mocks"
)

var _ = Describe("services that imitate OpenAI's API", Label("H-02"), func() {
	const idle = "{model: gpt-4.1-mini, rules: [{text: hi, optional: true}]}"
	for name, transport := range ways {
		DescribeTable(name+": are answered at their paths",
			func(path, body string) {
				r := transport(compile(idle), mocks.EngineOptions{})
				r.base = strings.TrimSuffix(r.base, "/v1")
				o := r.do(context.Background(), http.MethodPost, path, body, nil)
				Expect(o.Status).To(Equal(http.StatusOK), o.Body)
				r.settle()
				report := r.engine.Report()
				Expect(report.Unexpected).To(BeEmpty())
				Expect(report.Warnings).To(BeEmpty())
			},
			Entry("Azure's deployments", "/openai/deployments/d/chat/completions?api-version=2025-04-01-preview", chat(map[string]any{"model": nil}, user("hi"))),
			Entry("Azure's embeddings", "/openai/deployments/e/embeddings?api-version=2024-10-21", `{"input":"x"}`),
			Entry("Azure's Responses", "/openai/responses?api-version=2025-04-01-preview", `{"model":"d","input":"hi"}`),
			Entry("Azure's newer paths", "/openai/v1/responses", `{"model":"d","input":"hi"}`),
			Entry("Groq", "/openai/v1/chat/completions", chat(nil, user("hi"))),
			Entry("OpenRouter", "/api/v1/chat/completions", chat(nil, user("hi"))),
			Entry("OpenRouter's Responses, with parameters of its own", "/api/v1/responses", `{"model":"openai/gpt-5","input":"hi","provider":{}}`),
			Entry("Mistral", "/v1/embeddings", `{"model":"mistral-embed","input":["x"]}`),
		)

		It(name+": are answered without /v1, with a warning that names the base URL", func() {
			r := transport(compile(idle), mocks.EngineOptions{})
			r.base = strings.TrimSuffix(r.base, "/v1")
			for range 2 {
				o := r.do(context.Background(), http.MethodPost, "/chat/completions", chat(nil, user("hi")), nil)
				Expect(o.Status).To(Equal(http.StatusOK))
			}
			Expect(r.do(context.Background(), http.MethodGet, "/models/gpt", "", nil).Status).To(Equal(http.StatusOK))
			r.settle()
			report := r.engine.Report()
			Expect(report.Unexpected).To(BeEmpty())
			Expect(report.Warnings).To(HaveExactElements(
				MatchRegexp(`^POST "/chat/completions" was answered, but .* set it to http://[^ ]+/v1$`), HavePrefix(`GET "/models/gpt"`)))
			Expect(report.Warnings[0]).To(HaveSuffix(r.base + "/v1"))
		})
	}

	It("get the answers of Azure's deployment as those of a model", func() {
		r := inProcess(compile("replies: [{text: hi, when: {model: d}}]"), mocks.EngineOptions{})
		r.base = strings.TrimSuffix(r.base, "/v1")
		o := r.do(context.Background(), http.MethodPost, "/openai/deployments/d/chat/completions", chat(map[string]any{"model": "other"}, user("hi")), nil)
		Expect(o.text()).To(Equal("hi"))
	})

	It("get tool calls from Mistral's models with ids of 9 letters and digits, the same for the same seed", func() {
		ask := func(model string) []string {
			r := inProcess(compile("replies: [{tool_calls: [{name: f}, {name: f}, {id: mine, name: f}]}]"), mocks.EngineOptions{Seed: 3})
			var ids []string
			for _, m := range regexp.MustCompile(`"id":"([^"]+)","type"`).FindAllStringSubmatch(
				r.post(context.Background(), chat(map[string]any{"model": model}, user("hi"))).Body, -1) {
				ids = append(ids, m[1])
			}
			return ids
		}
		ids := ask("mistral-large-latest")
		Expect(ids).To(HaveExactElements(MatchRegexp("^[a-z0-9]{9}$"), MatchRegexp("^[a-z0-9]{9}$"), Equal("mine")))
		Expect(ids[0]).NotTo(Equal(ids[1]))
		Expect(ask("mistral-large-latest")).To(Equal(ids))
		Expect(ask("gpt-4.1")[0]).To(HavePrefix("call_"))
	})

	It("get errors in Mistral's form for its models, also to a request that is not valid", func() {
		r := inProcess(compile("replies: [{text: hi, when: {user: bye}}]"), mocks.EngineOptions{})
		for body, want := range map[string]string{
			chat(map[string]any{"model": "mistral-large-latest"}, user("hi")):                       `"code":"unexpected_call","raw_status_code":404}`,
			chat(map[string]any{"model": "mistral-large-latest", "messages": []any{}}):              `"param":"messages",`,
			chat(map[string]any{"model": "mistral-large-latest", "functions": []any{}}, user("hi")): `"param":"functions",`,
		} {
			Expect(r.post(context.Background(), body).Body).To(And(HavePrefix(`{"object":"error","message":"`), ContainSubstring(want)))
		}
		Expect(r.post(context.Background(), chat(nil, user("hi"))).Body).To(HavePrefix(`{"error":{"message":"`))
	})

	It("get a choice for each that they ask for, drawn anew from one_of", func() {
		script := "replies: [{one_of: [{text: a, chance: 0.5}, {text: b, tool_calls: [{name: f}]}]}]"
		type answer struct {
			Choices []struct {
				Message struct {
					Content   string
					ToolCalls []struct{ ID string } `json:"tool_calls"`
				}
			}
			Usage struct {
				CompletionTokens int `json:"completion_tokens"`
			}
		}
		ask := func() (a answer) {
			r := inProcess(compile(script), mocks.EngineOptions{Seed: 3, Count: func(string, string) int { return 1 }})
			Expect(json.Unmarshal([]byte(r.post(context.Background(), chat(map[string]any{"n": 20}, user("hi"))).Body), &a)).To(Succeed())
			Expect(r.engine.Report().Calls).To(Equal(1))
			return a
		}
		got := ask()
		Expect(got.Choices).To(HaveLen(20))
		seen, ids := map[string]int{}, map[string]bool{}
		for _, c := range got.Choices {
			seen[c.Message.Content]++
			for _, t := range c.Message.ToolCalls {
				ids[t.ID] = true
			}
		}
		Expect(seen).To(And(HaveLen(2), HaveKeyWithValue("b", len(ids))), "each call has its own id")
		Expect(got.Usage.CompletionTokens).To(Equal(20*3+2*seen["b"]), "of all choices")
		Expect(ask()).To(Equal(got))
	})
})

var _ = Describe("moderations", Label("H-02"), func() {
	type results struct {
		Results []struct {
			Flagged    bool
			Categories map[string]bool
			Scores     map[string]float64 `json:"category_scores"`
		}
	}
	ask := func(input string, status int) (r results) {
		GinkgoHelper()
		script := "moderations: [{input: {matches: 'k.ll'}, categories: [violence, harassment/threatening]}, {input: kill, categories: [hate]}]\n" +
			"rules: [{text: hi, optional: true}]"
		o := inProcess(compile(script), mocks.EngineOptions{}).do(context.Background(), http.MethodPost, "/moderations", `{"input":`+input+`}`, nil)
		Expect(o.Status).To(Equal(status), o.Body)
		Expect(json.Unmarshal([]byte(o.Body), &r)).To(Succeed())
		return r
	}

	It("flag what the script says, and nothing else", func() {
		r := ask(`["I love you.","I kill you."]`, 200)
		Expect(r.Results).To(HaveLen(2))
		Expect(r.Results[0].Flagged).To(BeFalse())
		Expect(r.Results[0].Categories).To(And(HaveLen(13), HaveEach(BeFalse())))
		Expect(r.Results[1].Flagged).To(BeTrue())
		Expect(r.Results[1].Categories).To(And(HaveKeyWithValue("violence", true), HaveKeyWithValue("harassment/threatening", true), HaveKeyWithValue("hate", false)))
		Expect(r.Results[1].Scores["violence"]).To(BeNumerically(">", r.Results[1].Scores["hate"]))
		Expect(ask(`"kill"`, 200).Results).To(HaveLen(1))
		Expect(ask(`[{"type":"text","text":"kill"},{"type":"image_url","image_url":{"url":"https://x.example/a.png"}}]`, 200).Results).To(HaveExactElements(HaveField("Flagged", true)))
	})

	DescribeTable("refuse", func(input string) { Expect(ask(input, 400).Results).To(BeEmpty()) },
		Entry("null", "null"), Entry("a number", "7"), Entry("an empty list", "[]"), Entry("a list of numbers", "[7]"), Entry("another part", `[{"type":"video"}]`))

	It("are validated", func() {
		s := mocks.Script{
			Moderations: []mocks.Moderation{{Input: mocks.Match{Matches: "("}, Categories: []string{"violense"}}, {}},
			Replies:     []mocks.Line{{Answer: mocks.Answer{Text: "hi"}}},
		}
		var problems []string
		for _, p := range s.Validate() {
			problems = append(problems, p.String())
		}
		Expect(problems).To(HaveExactElements(HavePrefix("moderations[0].input.matches: "),
			And(HavePrefix("moderations[0].categories[0]: "), HaveSuffix(`did you mean "violence"?`)),
			HavePrefix("moderations[1].input: "), HavePrefix("moderations[1].categories: ")))
	})
})

var _ = Describe("the headers about rate limits", Label("H-02"), func() {
	header := func(script, path, body string) http.Header {
		GinkgoHelper()
		r := overSocket(compile(script), mocks.EngineOptions{})
		request, err := http.NewRequest(http.MethodPost, r.base+path, strings.NewReader(body))
		Expect(err).NotTo(HaveOccurred())
		request.Header.Set("Anthropic-Version", "2023-06-01")
		response, err := r.client.Do(request)
		Expect(err).NotTo(HaveOccurred())
		Expect(response.Body.Close()).To(Succeed())
		return response.Header
	}
	const used = "replies: [{text: hi, usage: {input: 900, cached_input: 50, output: 50}}]"

	It("report what a call leaves, as OpenAI does", func() {
		h := header(used, "/chat/completions", chat(nil, user("hi")))
		Expect(h.Get("X-Ratelimit-Limit-Tokens")).To(Equal("2000000"))
		Expect(h.Get("X-Ratelimit-Remaining-Tokens")).To(Equal("1999000"))
		Expect(h.Get("X-Ratelimit-Reset-Tokens")).To(Equal("30ms"))
		Expect(h.Get("X-Ratelimit-Remaining-Requests")).To(Equal("9999"))
		Expect(h.Get("X-Ratelimit-Reset-Requests")).To(Equal("6ms"))
	})

	It("report it as Anthropic does", func() {
		h := header(used, "/messages", `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"hi"}]}`)
		Expect(h.Get("Anthropic-Ratelimit-Input-Tokens-Remaining")).To(Equal("1999000"))
		Expect(h.Get("Anthropic-Ratelimit-Requests-Limit")).To(Equal("10000"))
		Expect(h.Get("Anthropic-Ratelimit-Requests-Reset")).To(MatchRegexp(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$`))
		Expect(h).NotTo(HaveKey("X-Ratelimit-Limit-Tokens"))
	})

	It("report the wait after a rate limit, and nothing with other errors", func() {
		h := header("replies: [{text: hi, fault: {kind: status, status: 429, retry_after: 20s}}]", "/chat/completions", chat(nil, user("hi")))
		Expect(h.Get("X-Ratelimit-Remaining-Requests")).To(Equal("0"))
		Expect(h.Get("X-Ratelimit-Reset-Requests")).To(Equal("20s"))
		h = header("replies: [{text: hi, fault: {kind: status, status: 500}}]", "/chat/completions", chat(nil, user("hi")))
		Expect(h).NotTo(HaveKey("X-Ratelimit-Limit-Requests"))
	})
})

var _ = Describe("a script's choice of rules", Label("H-02"), func() {
	typo := chat(map[string]any{"model": "gpt-4.1-mini", "temprature": 1}, user("hi"))

	It("is followed", func() {
		r := inProcess(compile("replies: [{text: hi}]"), mocks.EngineOptions{})
		Expect(r.post(context.Background(), typo).Status).To(Equal(http.StatusBadRequest))
		Expect(r.engine.Report().Invalid).To(HaveExactElements(And(ContainSubstring("temprature"), ContainSubstring("`relax: [unknown-parameter]`"))))

		r = inProcess(compile("{relax: [unknown-parameter], replies: [{text: hi}]}"), mocks.EngineOptions{})
		Expect(r.post(context.Background(), typo).Status).To(Equal(http.StatusOK))

		r = inProcess(compile("{model: gpt-4.1-mini, strict: [unknown-model], replies: [{text: hi}]}"), mocks.EngineOptions{})
		Expect(r.ask("hi").Status).To(Equal(http.StatusNotFound))
	})

	It("is validated", func() {
		s := mocks.Script{Relax: []string{"unknown-parameters"}, Strict: []string{"ranges"}, Replies: []mocks.Line{{Answer: mocks.Answer{Text: "hi"}}}}
		problems := s.Validate()
		Expect(problems).To(HaveLen(2))
		Expect(problems[0].String()).To(And(HavePrefix("relax[0]: "), HaveSuffix(`did you mean "unknown-parameter"?`)))
		Expect(problems[1].String()).To(And(HavePrefix("strict[0]: "), ContainSubstring("missing-key")))
	})
})
