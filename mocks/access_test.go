package mocks_test

import (
	"context"
	"net/http"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/mocks"
)

var _ = Describe("a strict script", Label("H-02"), func() {
	ctx := context.Background()
	const (
		strict  = "{model: gpt-4.1-mini, strict: [missing-key, unknown-model], rules: [{text: hi, optional: true}]}"
		version = "Anthropic-Version"
	)
	upload := "--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.jsonl\"\r\n\r\nhello\r\n--x\r\n" +
		"Content-Disposition: form-data; name=\"purpose\"\r\n\r\nbatch\r\n--x--\r\n"
	const content = `{"contents":[{"parts":[{"text":"hi"}]}]}`

	DescribeTable("refuses a request without a key",
		func(method, path, body, key string, status int, message string) {
			for name, start := range ways {
				r := start(compile(strict), mocks.EngineOptions{})
				r.base = strings.TrimSuffix(r.base, "/v1")
				header := http.Header{}
				if key == "X-Api-Key" {
					header.Set(version, "2023-06-01")
				}
				o := r.do(ctx, method, path, body, header)
				Expect(o.Status).To(Equal(status), name)
				Expect(o.Body).To(ContainSubstring(message), name)
				r.settle()
				Expect(r.engine.Report().Invalid).To(HaveExactElements(And(ContainSubstring(message),
					ContainSubstring("(the optional rule missing-key; to turn it off, remove it from `strict` in the script, or from --demand)"))), name)

				header.Set(key, "Bearer k")
				Expect(r.do(ctx, method, path, body, header).Status).NotTo(Equal(status), name)
				relaxed := start(compile("rules: [{text: hi, optional: true}]"), mocks.EngineOptions{})
				relaxed.base = strings.TrimSuffix(relaxed.base, "/v1")
				header.Del(key)
				Expect(relaxed.do(ctx, method, path, body, header).Status).NotTo(Equal(status), "on demand only")
			}
		},
		Entry("upload", "POST", "/v1/files", upload, "Authorization", 401, "You didn't provide an API key."),
		Entry("list of files", "GET", "/v1/files", "", "Authorization", 401, "You didn't provide an API key."),
		Entry("batch", "POST", "/v1/batches", `{}`, "Authorization", 401, "You didn't provide an API key."),
		Entry("poll", "GET", "/v1/batches/b", "", "Authorization", 401, "You didn't provide an API key."),
		Entry("embedding", "POST", "/v1/embeddings", `{"model":"text-embedding-3-small","input":"x"}`, "Authorization", 401, "You didn't provide an API key."),
		Entry("embedding at Azure", "POST", "/openai/deployments/d/embeddings", `{"input":"x"}`, "Api-Key", 401, "invalid subscription key"),
		Entry("moderation", "POST", "/v1/moderations", `{"input":"x"}`, "Authorization", 401, "You didn't provide an API key."),
		Entry("list of models", "GET", "/v1/models", "", "Authorization", 401, "You didn't provide an API key."),
		Entry("image", "POST", "/v1/images/generations", `{"model":"gpt-image-1","prompt":"x"}`, "Authorization", 401, "You didn't provide an API key."),
		Entry("speech", "POST", "/v1/audio/speech", `{"model":"tts-1","input":"x","voice":"alloy"}`, "Authorization", 401, "You didn't provide an API key."),
		Entry("count of Responses", "POST", "/v1/responses/input_tokens", `{"model":"gpt-4.1-mini","input":"x"}`, "Authorization", 401, "You didn't provide an API key."),
		Entry("count of Messages", "POST", "/v1/messages/count_tokens", `{"model":"m","messages":[{"role":"user","content":"x"}]}`, "X-Api-Key", 401, "x-api-key header is required"),
		Entry("message batch", "POST", "/v1/messages/batches", `{}`, "X-Api-Key", 401, "x-api-key header is required"),
		Entry("list of Anthropic's models", "GET", "/v1/models", "", "X-Api-Key", 401, "x-api-key header is required"),
		Entry("list of Gemini's models", "GET", "/v1beta/models", "", "X-Goog-Api-Key", 403, "Method doesn't allow unregistered callers"),
		Entry("count of Gemini", "POST", "/v1beta/models/gpt-4.1-mini:countTokens", content, "X-Goog-Api-Key", 403, "Method doesn't allow unregistered callers"),
		Entry("embedding of Gemini", "POST", "/v1beta/models/m:embedContent", `{"content":{"parts":[{"text":"a"}]}}`, "X-Goog-Api-Key", 403, "Method doesn't allow unregistered callers"),
	)

	DescribeTable("refuses a request to Anthropic without a version",
		func(method, path, body string) {
			for name, start := range ways {
				r := start(compile("{model: claude-a, rules: [{text: hi, optional: true}]}"), mocks.EngineOptions{})
				r.base = strings.TrimSuffix(r.base, "/v1")
				key := http.Header{"X-Api-Key": {"k"}}
				o := r.do(ctx, method, path, body, key)
				Expect(o.Status).To(Equal(400), name)
				Expect(o.Body).To(And(ContainSubstring("anthropic-version: header is required"), ContainSubstring(`"type":"error"`)), name)
				r.settle()
				Expect(r.engine.Report().Invalid).To(HaveExactElements(And(ContainSubstring("anthropic-version: header is required"),
					ContainSubstring("(the rule missing-version, which `relax: [missing-version]` in the script turns off)"))), name)

				relaxed := start(compile("{model: claude-a, relax: [missing-version], rules: [{text: hi, optional: true}]}"), mocks.EngineOptions{})
				relaxed.base = strings.TrimSuffix(relaxed.base, "/v1")
				Expect(relaxed.do(ctx, method, path, body, key).Body).NotTo(ContainSubstring("anthropic-version"), name)
				key.Set(version, "2023-06-01")
				Expect(r.do(ctx, method, path, body, key).Body).NotTo(ContainSubstring("anthropic-version"), name)
			}
		},
		Entry("call", "POST", "/v1/messages", `{"model":"claude-a","max_tokens":9,"messages":[{"role":"user","content":"x"}]}`),
		Entry("count", "POST", "/v1/messages/count_tokens", `{"model":"claude-a","messages":[{"role":"user","content":"x"}]}`),
		Entry("models", "GET", "/v1/models", ""),
		Entry("model", "GET", "/v1/models/claude-a", ""),
		Entry("batch", "POST", "/v1/messages/batches", `{}`),
		Entry("batches", "GET", "/v1/messages/batches", ""),
		Entry("poll", "GET", "/v1/messages/batches/b", ""),
		Entry("results", "GET", "/v1/messages/batches/b/results", ""),
		Entry("cancel", "POST", "/v1/messages/batches/b/cancel", ""),
		Entry("delete", "DELETE", "/v1/messages/batches/b", ""),
	)

	It("asks no version of clients of OpenAI's API", func() {
		for _, header := range []http.Header{{"Authorization": {"Bearer k"}}, {"Authorization": {"Bearer k"}, "X-Api-Key": {"k"}}, {}} {
			r := inProcess(compile("{model: gpt-4.1-mini, rules: [{text: hi, optional: true}]}"), mocks.EngineOptions{})
			r.base = strings.TrimSuffix(r.base, "/v1")
			Expect(r.do(ctx, "GET", "/v1/models", "", header).Body).To(ContainSubstring(`"object":"list"`))
			Expect(r.do(ctx, "GET", "/v1/files", "", header).Status).To(Equal(200))
			Expect(r.engine.Report().Invalid).To(BeEmpty())
		}
	})

	It("accepts Google's key in the query", func() {
		r := inProcess(compile(strict), mocks.EngineOptions{})
		r.base = strings.TrimSuffix(r.base, "/v1")
		const path = "/v1beta/models/gpt-4.1-mini:generateContent"
		Expect(r.do(ctx, "POST", path, content, nil).Status).To(Equal(403))
		Expect(r.do(ctx, "POST", path+"?key=k", content, nil).Status).To(Equal(200))
		Expect(r.engine.Report().Invalid).To(HaveLen(1))
	})

	DescribeTable("refuses an unknown model",
		func(method, path, body, message string) {
			for name, start := range ways {
				r := start(compile(strict), mocks.EngineOptions{})
				r.base = strings.TrimSuffix(r.base, "/v1")
				keys := http.Header{"Authorization": {"Bearer k"}, "X-Api-Key": {"k"}}
				o := r.do(ctx, method, path, body, keys)
				Expect(o.Status).To(Equal(404), name)
				Expect(o.Body).To(ContainSubstring(message), name)
				Expect(r.do(ctx, method, strings.Replace(path, "nope", "gpt-4.1-mini", 1), strings.Replace(body, "nope", "gpt-4.1-mini", 1), keys).Status).To(Equal(200), name)
				r.settle()
				Expect(r.engine.Report().Invalid).To(HaveExactElements(ContainSubstring("the optional rule unknown-model")), name)
			}
		},
		Entry("OpenAI's", "GET", "/v1/models/nope", "", `"code":"model_not_found"`),
		Entry("a count of Responses", "POST", "/v1/responses/input_tokens", `{"model":"nope","input":"x"}`, "The model `nope` does not exist"),
		Entry("Google's", "GET", "/v1beta/models/nope", "", "models/nope is not found for API version v1beta"),
		Entry("a count of Google's", "POST", "/v1beta/models/nope:countTokens", content, "models/nope is not found for API version v1beta"),
		Entry("a call of Google's", "POST", "/v1beta/models/nope:generateContent", content, "models/nope is not found for API version v1beta"),
	)

	It("does not relax the same rule", func() {
		Expect(problems("{strict: [missing-key], relax: [unknown-parameter, missing-key], rules: [{text: hi}]}")).To(
			HaveExactElements("relax[1]: missing-key is also in strict; remove one of the two"))
	})
})

var _ = Describe("a request beside a call", Label("H-02"), func() {
	DescribeTable("is refused for what the model or the endpoint does not have",
		func(path, refused, accepted, rule, message string) {
			r := inProcess(compile("rules: [{text: hi, optional: true}]"), mocks.EngineOptions{})
			Expect(r.do(context.Background(), "POST", path, accepted, nil).Status).To(Equal(200))
			Expect(r.engine.Report().Invalid).To(BeEmpty())
			answer := r.do(context.Background(), "POST", path, refused, nil)
			Expect(answer.Status).To(Equal(400))
			Expect(answer.Body).To(ContainSubstring(message))
			Expect(r.engine.Report().Invalid).To(HaveExactElements(ContainSubstring("`relax: [" + rule + "]`")))

			r = inProcess(compile("{relax: ["+rule+"], rules: [{text: hi, optional: true}]}"), mocks.EngineOptions{})
			Expect(r.do(context.Background(), "POST", path, refused, nil).Status).To(Equal(200))
		},
		Entry("dimensions", "/embeddings", `{"model":"text-embedding-ada-002","input":"x","dimensions":8}`,
			`{"model":"text-embedding-3-small","input":"x","dimensions":8}`, "model-support", "This model does not support specifying dimensions."),
		Entry("dimensions that are null", "/embeddings", `{"model":"text-embedding-ada-002","input":"x","dimensions":1536}`,
			`{"model":"text-embedding-ada-002","input":"x","dimensions":null}`, "model-support", "specifying dimensions"),
		Entry("a limit of the answer in a count", "/messages/count_tokens",
			`{"model":"claude-sonnet-4-5","max_tokens":9,"messages":[{"role":"user","content":"x"}]}`,
			`{"model":"kimi-k2","max_tokens":9,"messages":[{"role":"user","content":"x"}]}`, "unknown-parameter", "max_tokens: Extra inputs are not permitted"),
	)
})
