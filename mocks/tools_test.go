package mocks_test

import (
	"context"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/mocks"
	"github.com/rehearse-dev/rehearse/mocks/wire"
)

var _ = Describe("tools of a call", Label("H-02"), func() {
	const schema = `{"type":"object","properties":{"id":{"type":"string"}}}`

	DescribeTable("are part of its input, whatever white space the client sends",
		func(parameters string) {
			e := mocks.NewEngine(compile("replies: [{text: done}]"), mocks.EngineOptions{Count: func(_, text string) int { return len(text) }})
			e.Begin(context.Background(), wire.OpenAIChat{}, nil, []byte(`{"model":"m","messages":[{"role":"user","content":"where?"}],
				"tools":[{"type":"function","function":{"name":"lookup","description":"an order","parameters":`+parameters+`}}]}`)).End()
			Expect(e.Report().Exchanges[0].Usage.Input).To(Equal(len("where?") + len("lookup") + len("an order") + len(schema)))
		},
		Entry("none", schema),
		Entry("indented", "{ \"type\": \"object\",\n \"properties\": {\"id\": {\"type\": \"string\"}}}"))

	const lines = `rules:
- {when: {user: one}, tool_calls: [{name: get_wether}, {name: list}, {name: zzz}]}
- {when: {user: two}, one_of: [{tool_calls: [{name: get_wether}]}]}`
	offering := func(text string, tools ...string) string {
		fields := map[string]any{}
		for _, name := range tools {
			list, _ := fields["tools"].([]message)
			fields["tools"] = append(list, message{"type": "function", "function": message{"name": name}})
		}
		return chat(fields, user(text))
	}

	It("that the request does not offer are a warning, once for each line and tool, with the nearest name", func() {
		r := inProcess(compile(lines), mocks.EngineOptions{})
		for range 2 {
			Expect(r.post(context.Background(), offering("one", "get_weather", "list")).Status).To(Equal(200))
			Expect(r.post(context.Background(), offering("one", "list")).Status).To(Equal(200))
		}
		Expect(r.post(context.Background(), offering("two")).Status).To(Equal(200))
		report := r.engine.Report()
		Expect(report.Warnings).To(HaveExactElements(
			`rules[0]: the request does not offer the tool "get_wether" that this line calls; it offers "get_weather", "list"; did you mean "get_weather"?`,
			`rules[0]: the request does not offer the tool "zzz" that this line calls; it offers "get_weather", "list"`,
			`rules[1].one_of[0]: the request does not offer the tool "get_wether" that this line calls; it offers no tools`,
		))
		Expect(report.UnofferedTools).To(Equal(report.Warnings))
		Expect(report.Strays).To(BeEmpty())
		Expect(r.engine.Fork(r.clock, nil).Report().UnofferedTools).To(Equal(report.UnofferedTools))
	})

	It("are named at most ten in a warning", func() {
		r := inProcess(compile(lines), mocks.EngineOptions{})
		r.post(context.Background(), offering("two", strings.Split("abcdefghijkl", "")...))
		Expect(r.engine.Report().Warnings).To(HaveExactElements(HaveSuffix(`it offers "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", 2 more`)))
	})

	It("that are offered are no warning", func() {
		r := inProcess(compile(lines), mocks.EngineOptions{})
		r.post(context.Background(), offering("one", "get_wether", "list", "zzz"))
		Expect(r.engine.Report().Warnings).To(BeEmpty())
	})
})
