package mocks_test

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/mocks"
)

// bodies are requests that each endpoint accepts.
var bodies = map[string]string{
	"/v1/chat/completions":                   `{"model":"m","messages":[{"role":"user","content":"hi"}]}`,
	"/v1/responses":                          `{"model":"m","input":"hi"}`,
	"/v1/messages":                           `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"hi"}]}`,
	"/v1/messages/count_tokens":              `{"model":"m","messages":[{"role":"user","content":"hi"}]}`,
	"/v1/responses/input_tokens":             `{"model":"m","input":"hi"}`,
	"/v1/embeddings":                         `{"model":"m","input":"hi"}`,
	"/v1/moderations":                        `{"model":"m","input":"hi"}`,
	"/v1beta/models/m:generateContent":       `{"contents":[{"role":"user","parts":[{"text":"hi"}]}]}`,
	"/v1beta/models/m:countTokens":           `{"contents":[{"role":"user","parts":[{"text":"hi"}]}]}`,
	"/v1beta/models/m:embedContent":          `{"content":{"parts":[{"text":"hi"}]}}`,
	"/v1beta/models/m:batchEmbedContents":    `{"requests":[{"model":"models/m","content":{"parts":[{"text":"hi"}]}}]}`,
	"/api/chat":                              `{"model":"m","messages":[{"role":"user","content":"hi"}]}`,
	"/api/generate":                          `{"model":"m","prompt":"hi"}`,
	"/api/embed":                             `{"model":"m","input":"hi"}`,
	"/api/embeddings":                        `{"model":"m","prompt":"hi"}`,
	"/api/show":                              `{"model":"m"}`,
	"/model/m/converse":                      `{"messages":[{"role":"user","content":[{"text":"hi"}]}]}`,
	"/model/m/converse-stream":               `{"messages":[{"role":"user","content":[{"text":"hi"}]}]}`,
	"/openai/deployments/m/chat/completions": `{"messages":[{"role":"user","content":"hi"}]}`,
}

// broken are bodies that no endpoint accepts.
var broken = map[string]string{
	"an empty body":          "",
	"a truncated object":     `{"model":"m","messages":[{"role":"user","con`,
	"a list":                 `[1]`,
	"a text":                 `"hi"`,
	"null":                   `null`,
	"fields of wrong types":  `{"model":{},"messages":7,"input":{"a":1},"prompt":[],"contents":"x","content":[],"requests":3}`,
	"a deep nest":            `{"messages":` + strings.Repeat("[", 200_000),
	"two documents":          `{"model":"m"}{"model":"m"}`,
	"bytes that are no text": "\xff\xfe\x00{",
}

var _ = Describe("every endpoint", Label("H-02"), func() {
	// send sends a body to a new engine that answers each call.
	send := func(path, body string) (outcome, mocks.Report) {
		GinkgoHelper()
		r := inProcess(compile("rules: [{text: a, optional: true}]"), mocks.EngineOptions{Count: countBytes})
		r.base = strings.TrimSuffix(r.base, "/v1")
		header := http.Header{"Content-Type": {"application/json"}}
		if strings.HasPrefix(path, "/v1/messages") {
			header.Set("Anthropic-Version", "2023-06-01")
		}
		return r.do(context.Background(), http.MethodPost, path, body, header), r.engine.Report()
	}
	refused := func(path, what string, got outcome, report mocks.Report) {
		GinkgoHelper()
		Expect(got.Err).To(BeEmpty(), what)
		Expect(got.Status).To(BeNumerically("~", 450, 50), "%s: %s", what, got.Body)
		Expect(json.Valid([]byte(got.Body))).To(BeTrue(), "%s: %s", what, got.Body)
		Expect(append(report.Invalid, report.Unexpected...)).To(HaveLen(1), "%s to %s: %s", what, path, got.Body)
	}

	for path, accepted := range bodies {
		It("reports broken requests, and those of other protocols: "+path, func() {
			got, report := send(path, accepted)
			Expect(got.Status).To(Equal(http.StatusOK), got.Body)
			Expect(report.Invalid).To(BeEmpty())

			for what, body := range broken {
				got, report := send(path, body)
				refused(path, what, got, report)
			}
			for other, body := range bodies {
				if got, report := send(path, body); got.Status != http.StatusOK {
					refused(path, "a request for "+other, got, report)
				}
			}
		})

		It("reports a body that is too large: "+path, func() {
			r := inProcess(compile("rules: [{text: a, optional: true}]"), mocks.EngineOptions{})
			request, err := http.NewRequest(http.MethodPost, "http://mock"+path, bufio.NewReader(zeros{}))
			Expect(err).NotTo(HaveOccurred())
			request.ContentLength = 33 << 20
			response, err := r.client.Do(request)
			Expect(err).NotTo(HaveOccurred())
			Expect(response.Body.Close()).To(Succeed())
			Expect(response.StatusCode).To(Equal(http.StatusRequestEntityTooLarge))
			Expect(r.engine.Report().Invalid).To(ConsistOf(And(ContainSubstring(path), ContainSubstring("larger than 32 MB"))))
		})
	}
})
