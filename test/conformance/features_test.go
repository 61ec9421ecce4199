package conformance_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

const (
	nodeImage = "model: " + model + `
replies: [{text: a drawing, when: {user: {equals: what is this?}, attachment: "image image/png 4 bytes sha256:0f4636c7"}}]`
	nodeMedia = "model: " + model + `
rules:
  - {text: a drawing, when: {user: {equals: what is this?}, attachment: {matches: "^audio audio/wav 4 bytes"}}}`
	nodeCustom = "model: " + model + `
replies:
  - {tool_calls: [{name: sh, arguments: {input: "ls \"a b\" | wc"}}], when: {tool_offered: sh}}
  - {text: one file, when: {turn: 2, tool_result: a.txt}}`
	nodeStored = "model: " + model + `
rules:
  - {when: {turn: 0, user: {equals: pick a number}}, thinking: hm, text: seven}
  - {when: {turn: 1, user: {equals: which number?}, any: seven, tool_offered: look}, tool_calls: [{name: look}]}
  - {when: {turn: 2, any: pick a number, tool_result: seen}, text: It is seven.}`
	nodeReferred = "model: " + model + `
rules:
  - {when: {turn: 0, user: {equals: pick a number}}, thinking: hm, text: seven}
  - {when: {turn: 1, user: {equals: which number?}, any: {equals: seven}}, text: It is seven.}`
	nodeRunner = "model: " + model + `
replies:
  - {tool_calls: [{name: weather, arguments: {city: Bern}}], when: {turn: 0, user: {equals: hi}}}
  - {text: It rains., when: {turn: 1, tool_result: rain}}`
	nodeHello = "model: " + model + "\nreplies: [{text: hello}]"
	nodeIdle  = "model: " + model + "\nrules: [{text: hello, optional: true}]"
)

var _ = Describe("Node clients", Label("H-02"), func() {
	ask := func(cases ...*nodeCase) map[string]nodeSeen {
		GinkgoHelper()
		for _, c := range cases {
			c.Name = c.Feature + map[bool]string{true: ", streamed"}[c.Stream]
		}
		return asks("features", cases)
	}

	It("send images, audio and files, call custom tools, and refer to stored responses", func() {
		var cases []*nodeCase
		want := map[string]string{}
		for _, stream := range []bool{false, true} {
			for _, c := range []struct{ feature, script, want string }{
				{"vision", nodeMedia, "a drawing"},
				{"vision, ai", nodeImage, "a drawing"},
				{"vision, ai over Responses", nodeImage, "a drawing"},
				{"vision, ai over Messages", nodeImage, "a drawing"},
				{"vision, Gemini", nodeImage, "a drawing"},
				{"custom", nodeCustom, "one file"},
				{"previous", nodeStored, "It is seven."},
				{"references", nodeReferred, "It is seven."},
				{"toolRunner", nodeRunner, "It rains."},
			} {
				one := &nodeCase{Feature: c.feature, Stream: stream, script: c.script}
				cases = append(cases, one)
				want[c.feature] = c.want
			}
		}
		seen := ask(cases...)
		for _, c := range cases {
			Expect(seen[c.Name].Error).To(BeEmpty(), "%s: %s", c.Name, seen[c.Name].Message)
			Expect(seen[c.Name].Text).To(Equal(want[c.Feature]), c.Name)
			report := c.engine.Report()
			Expect(report.Invalid).To(BeEmpty(), c.Name)
			Expect(report.Unexpected).To(BeEmpty(), c.Name)
			Expect(report.Unused).To(BeEmpty(), c.Name)
		}
		Expect(seen["vision, Gemini"].Thinking).To(Equal("models/" + model + " models/" + model + " number 3,3"))
		Expect(seen["custom"].Thinking).To(Equal(`custom sh: ls "a b" | wc`))
		Expect(seen["custom, streamed"].Thinking).To(Equal(`custom sh: ls "a b" | wc`))
	})

	It("get errors for unknown responses and paths", func() {
		unknown := &nodeCase{Feature: "unknownPrevious", script: nodeIdle}
		astray := &nodeCase{Feature: "astray", script: nodeHello}
		without := &nodeCase{Feature: "withoutV1", script: nodeIdle}
		twice := &nodeCase{Feature: "anthropicTwice", script: nodeIdle}
		seen := ask(unknown, astray, without, twice)

		Expect(seen["unknownPrevious"].Status).To(Equal(400))
		Expect(seen["unknownPrevious"].Message).To(ContainSubstring("Previous response with id 'resp_nope' not found."))
		Expect(unknown.engine.Report().Invalid).To(HaveLen(1), "it must not be retried")

		Expect(seen["astray"].Text).To(Equal("hello"))
		Expect(astray.engine.Report().Unexpected).To(ConsistOf(ContainSubstring(`POST "/v1/vector_stores"`)))

		Expect(seen["withoutV1"].Text).To(Equal("hello"))
		Expect(without.engine.Report().Unexpected).To(BeEmpty())
		Expect(without.engine.Report().Warnings).To(ConsistOf(ContainSubstring("the client's base URL lacks /v1")))
		Expect(seen["anthropicTwice"].Message).To(ContainSubstring("remove it"))
		Expect(twice.engine.Report().Unexpected).To(HaveLen(1))
	})
})
