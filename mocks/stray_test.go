package mocks_test

import (
	"context"
	"net/http"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/mocks"
)

var _ = Describe("a request to an unknown endpoint", Label("H-02"), func() {
	for name, transport := range ways {
		DescribeTable(name+": is a finding, with a hint where the base URL is wrong,",
			func(method, path string, status int, finding string) {
				r := transport(compile(`rules: [{text: hi, optional: true}]`), mocks.EngineOptions{})
				r.base = r.base[:len(r.base)-len("/v1")]
				for range 2 {
					Expect(r.do(context.Background(), method, path, `{"model":"m"}`, nil).Status).To(Equal(status))
				}
				r.settle()
				report := r.engine.Report()
				Expect(report.Unexpected).To(ConsistOf(ContainSubstring(finding)), "once, however often it is asked")
				Expect(report.Strays).To(Equal(report.Unexpected))
				Expect(report.Calls).To(BeZero())
			},
			Entry("the base URL has /v1 twice", "POST", "/v1/v1/messages", 404, "remove it"),
			Entry("a letter is missing", "POST", "/v1/chat/completion", 404, `POST "/v1/chat/completion". Did you mean /v1/chat/completions?`),
			Entry("a slash ends the path", "POST", "/v1/responses/", 404, "Did you mean /v1/responses?"),
			Entry("a letter is missing below another root", "POST", "/openai/v1/embedding", 404, "Did you mean /openai/v1/embeddings?"),
			Entry("a letter is missing without a root", "GET", "/model", 404, "Did you mean /v1/models?"),
			Entry("a path of Ollama is wrong", "POST", "/api/chats", 404, "Did you mean /api/chat?"),
			Entry("an API of Ollama is not there", "POST", "/api/push", 404, "/api/chat, /api/generate"),
			Entry("an API that is not there", "POST", "/v1/images/variations", 404, `POST "/v1/images/variations". There are`),
			Entry("a path with what would end a line", "GET", "/v1/a%0Ab", 404, `GET "/v1/a\nb"`),
			Entry("another method", "GET", "/v1/chat/completions", 405, "use POST"),
		)

		It(name+": is not reported where a client can do without it, or for health checks", func() {
			r := transport(compile(`rules: [{text: hi, optional: true}]`), mocks.EngineOptions{})
			Expect(r.do(context.Background(), http.MethodOptions, "/chat/completions", "", nil).Status).To(Equal(405))
			Expect(r.do(context.Background(), http.MethodGet, "/responses", "", http.Header{"Upgrade": {"websocket"}, "Connection": {"Upgrade"}}).Status).To(Equal(405))
			r.base = r.base[:len(r.base)-len("/v1")]
			Expect(r.do(context.Background(), http.MethodGet, "/", "", nil).Status).To(Equal(200))
			Expect(r.do(context.Background(), http.MethodHead, "/", "", nil).Status).To(Equal(200))
			r.settle()
			Expect(r.engine.Report().Unexpected).To(BeEmpty())
		})

		It(name+": is not counted as served, and neither are health checks; refused and side requests are", func() {
			r := transport(compile(`rules: [{text: hi, optional: true}]`), mocks.EngineOptions{})
			r.do(context.Background(), http.MethodPost, "/embedings", `{}`, nil)
			r.do(context.Background(), http.MethodGet, "/embeddings", "", nil)
			Expect(r.engine.Served()).To(BeZero())
			r.do(context.Background(), http.MethodGet, "/models", "", nil)
			r.do(context.Background(), http.MethodGet, "/files", "", nil)
			r.do(context.Background(), http.MethodPost, "/embeddings", `{}`, nil)
			r.do(context.Background(), http.MethodPost, "/chat/completions", `{}`, nil)
			Expect(r.engine.Served()).To(Equal(4))
			r.base = r.base[:len(r.base)-len("/v1")]
			r.do(context.Background(), http.MethodHead, "/", "", nil)
			r.settle()
			Expect(r.engine.Served()).To(Equal(4))
		})
	}

	It("is kept within the limit of a standing server", func() {
		r := inProcess(compile(`rules: [{text: hi, optional: true}]`), mocks.EngineOptions{Keep: 2})
		for _, path := range []string{"/a", "/b", "/c", "/a"} {
			r.do(context.Background(), http.MethodGet, path, "", nil)
		}
		Expect(r.engine.Report().Unexpected).To(HaveLen(2))
	})
})
