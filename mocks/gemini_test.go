package mocks_test

import (
	"context"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/mocks"
)

var _ = Describe("the paths of Gemini", Label("H-02"), func() {
	DescribeTable("are refused below a wrong base URL, with a hint",
		func(path, hint string) {
			for name, start := range ways {
				r := start(compile("rules: [{text: one two, optional: true}]"), mocks.EngineOptions{})
				r.base = strings.TrimSuffix(r.base, "/v1")
				o := r.do(context.Background(), "POST", path, `{"contents":[{"parts":[{"text":"hi"}]}]}`, nil)
				Expect(o.Status).To(Equal(404), name)
				Expect(o.Body).To(And(HavePrefix(`{"error":{"code":404`), ContainSubstring(hint)), name)
				r.settle()
				Expect(r.engine.Report().Unexpected).To(ConsistOf(ContainSubstring(hint)), name)
			}
		},
		Entry("/v1 before /v1beta", "/v1/v1beta/models/m:generateContent", "remove the version from its end"),
		Entry("/v1beta before /v1", "/v1beta/v1/models/m:generateContent", "remove the version from its end"),
		Entry("/v1 twice", "/v1/v1/models/m:streamGenerateContent?alt=sse", "remove the version from its end"),
		Entry("/v1beta twice", "/v1beta/v1beta/models/m:generateContent", "remove the version from its end"),
		Entry("three of them", "/v1/v1beta/v1/models/m:countTokens", "remove the version from its end"),
		Entry("another folder", "/foo/v1beta/models/m:generateContent", "remove the version from its end"),
		Entry("twice for Vertex AI", "/v1/v1beta1/publishers/google/models/m:generateContent", "remove the version from its end"),
		Entry("no version", "/models/m:generateContent", "append /v1beta"),
	)

	It("are not those of OpenAI's models with a colon", func() {
		r := inProcess(compile("rules: [{text: hi, optional: true}]"), mocks.EngineOptions{})
		Expect(r.do(context.Background(), "GET", "/models/ft:gpt-4.1:org", "", nil).Body).To(ContainSubstring(`"id":"ft:gpt-4.1:org"`))
		Expect(r.engine.Report().Unexpected).To(BeEmpty())
	})
})
