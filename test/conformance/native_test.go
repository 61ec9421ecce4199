package conformance_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

const (
	nodeFiles = "model: " + model + `
replies: [{text: a drawing, when: {model: "arn:aws:bedrock:us-east-1:123456789012:inference-profile/eu.anthropic.claude-x-v1:0",
  user: {equals: what is this?}, attachment: {matches: "^image image/png 4 bytes|^file application/pdf a 4 bytes"}}, ` + usage + `}]`
	nodePrompt = "model: " + model + `
replies: [{text: '{"is": "a drawing"}', when: {system: brief, user: {equals: what is this?}, attachment: "image 4 bytes sha256:0f4636c7"}, ` + usage + `}]`
)

// nativeCases returns a case for each script, at once and streamed.
func nativeCases(scripts map[string]string) (cases []*nodeCase) {
	for _, stream := range []bool{false, true} {
		for name, script := range scripts {
			cases = append(cases, &nodeCase{Name: name + map[bool]string{true: ", streamed"}[stream], script: script, Stream: stream})
		}
	}
	return cases
}

var _ = Describe("Ollama's Node client", Label("H-02"), func() {
	It("talks with tools and understands errors and faults", func() {
		cases := nativeCases(map[string]string{
			"talk": nodeTalk, "401": fault(401, 1), "429": fault(429, 1), "503": fault(503, 1), "surplus": nodeSurplus,
			"finish-length": nodeFault("finish-length"), "malformed-json": nodeFault("malformed-json"),
			"reset-mid-stream": nodeFault("reset-mid-stream"), "error-event": nodeFault("error-event"),
			"missing-done": nodeFault("missing-done"), "truncated-stream": nodeFault("truncated-stream"),
			"empty-choices": nodeFault("empty-choices"), "wrong-usage": nodeFault("wrong-usage"),
			"slow-drip": nodeFault("{kind: slow-drip, delay: 1ms}"),
		})
		seen := asks("ollama", cases)
		for _, how := range []string{"", ", streamed"} {
			By("talking with tools" + how)
			Expect(seen["talk"+how]).To(Equal(nodeSeen{Text: "It rains, 日本.", Thinking: "Now I know.", Finish: "stop", Output: 7}))

			By("reporting a status, and never retrying" + how)
			for name, status := range map[string]int{"401": 401, "429": 429, "503": 503, "surplus": 400} {
				Expect(seen[name+how]).To(And(HaveField("Error", "ResponseError"), HaveField("Status", status)), name)
				Expect(seen[name+how].Message).NotTo(ContainSubstring("{"), name)
			}

			By("reporting broken and short answers" + how)
			Expect(seen["finish-length"+how].Finish).To(Equal("length"))
			Expect(seen["reset-mid-stream"+how].Error).NotTo(BeEmpty())
			Expect(seen["truncated-stream"+how].Error).NotTo(BeEmpty())
			Expect(seen["empty-choices"+how].Text).To(BeEmpty())
			Expect(seen["wrong-usage"+how].Output).To(Equal(1070))
			Expect(seen["slow-drip"+how].Text).To(Equal(answer))
		}
		Expect(seen["malformed-json"].Error).NotTo(BeEmpty())
		Expect(seen["malformed-json, streamed"].Error).To(BeEmpty(), "it skips a broken line")
		Expect(seen["malformed-json, streamed"].Text).NotTo(Equal(answer))
		Expect(seen["error-event, streamed"].Message).To(Equal("Internal Server Error"))
		Expect(seen["missing-done, streamed"].Message).To(ContainSubstring("Did not receive done"))
		for _, c := range cases {
			report := c.engine.Report()
			Expect(report.Invalid).To(BeEmpty(), c.Name)
			if c.script == nodeTalk {
				Expect(report.Unused).To(BeEmpty(), c.Name)
			}
		}
	})

	It("sends prompts with images, and lists models", func() {
		for _, got := range asks("generate", nativeCases(map[string]string{"image": nodePrompt})) {
			Expect(got).To(Equal(nodeSeen{Text: `{"is": "a drawing"}`, Finish: "stop", Output: 7}))
		}
		cases := []*nodeCase{{Name: "models", script: nodeIdle}}
		Expect(asks("ollamaModels", cases)["models"].Text).To(Equal(model + " true 0.17.4 3 true"))
		Expect(cases[0].engine.Report().Unexpected).To(BeEmpty())
	})
})

var _ = It("Bedrock's Node client retries 503, and names the type of errors", Label("H-02"), func() {
	cases := nativeCases(map[string]string{"503": fault(503, 1)})
	for _, c := range cases {
		c.Retries = 1
	}
	cases = append(cases, nativeCases(map[string]string{"403": fault(403, 1), "429": fault(429, 1)})...)
	seen := asks("converse", cases)
	for _, how := range []string{"", ", streamed"} {
		Expect(seen["503"+how].Text).To(Equal("hello"), seen["503"+how].Message)
		Expect(seen["403"+how]).To(And(HaveField("Error", "AccessDeniedException"), HaveField("Status", 403)))
		Expect(seen["429"+how]).To(And(HaveField("Error", "ThrottlingException"), HaveField("Status", 429)))
	}
})

var _ = It("Bedrock's Node client sends images and documents to a model whose id needs escaping", Label("H-02"), func() {
	for _, got := range asks("converseImage", nativeCases(map[string]string{"image": nodeFiles})) {
		Expect(got).To(Equal(nodeSeen{Text: "a drawing", Output: 7}))
	}
})
