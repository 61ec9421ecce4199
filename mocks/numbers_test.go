package mocks_test

import (
	"encoding/json"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"go.yaml.in/yaml/v4"
	"pgregory.net/rapid"

	"github.com/rehearse-dev/rehearse/mocks"
)

var _ = Describe("numbers in the arguments of a scripted tool call", Label("H-02"), func() {
	DescribeTable("keep their digits when a script is read and written", func(written, argument string) {
		script, err := parse("replies: [{tool_calls: [{name: f, arguments: {n: " + written + ", in: [{n: " + written + "}]}}]}]")
		Expect(err).NotTo(HaveOccurred())
		want := `{"in":[{"n":` + argument + `}],"n":` + argument + `}`
		Expect(json.Marshal(script.Replies[0].ToolCalls[0].Arguments)).To(BeEquivalentTo(want))
		text, err := yaml.Dump(script)
		Expect(err).NotTo(HaveOccurred())
		again, err := parse(string(text))
		Expect(err).NotTo(HaveOccurred())
		Expect(again).To(Equal(script), string(text))
	},
		Entry("an integer", "17", "17"),
		Entry("a fraction", "2.5", "2.5"),
		Entry("a whole fraction", "1.0", "1.0"),
		Entry("more digits than a float has", "0.1234567890123456789", "0.1234567890123456789"),
		Entry("an unsigned integer", "18446744073709551615", "18446744073709551615"),
		Entry("a larger integer", "12345678901234567890123", "12345678901234567890123"),
		Entry("a negative zero", "-0", "-0"),
		Entry("an exponent", "1E3", "1E3"),
		Entry("out of the range of a float", "1e999", "1e999"),
		Entry("a small fraction", "1e-7", "1e-7"),
		Entry("a small fraction without an exponent", "0.00001", "0.00001"),
		Entry("an integer that is a float", "100000000000000000000", "100000000000000000000"),
		Entry("a text in quotes", "'1.0'", `"1.0"`),
		Entry("a text by its tag", "!!str 1.0", `"1.0"`),
		Entry("a notation of YAML's", "0x10", "16"),
		Entry("a value twice", "[1.0, &n 2.0, *n]", "[1.0,2.0,2.0]"),
	)

	It("are the same after they were captured, written and read", func() {
		number := rapid.StringMatching(`-?(0|[1-9][0-9]{0,25})(\.[0-9]{1,12})?([eE][-+]?[0-9]{1,3})?`)
		rapid.Check(GinkgoT(), func(t *rapid.T) {
			text := number.Draw(t, "number")
			arguments := map[string]any{"n": mocks.Number(text, json.Number(text))}
			dumped, err := yaml.Dump(mocks.Script{Replies: []mocks.Line{{
				Answer: mocks.Answer{ToolCalls: []mocks.ScriptedToolCall{{Name: "f", Arguments: arguments}}},
			}}})
			Expect(err).NotTo(HaveOccurred())
			script, err := parse(string(dumped))
			Expect(err).NotTo(HaveOccurred(), string(dumped))
			Expect(script.Replies[0].ToolCalls[0].Arguments).To(Equal(arguments), string(dumped))
			Expect(json.Marshal(arguments)).To(BeEquivalentTo(`{"n":` + text + `}`))
		})
	})

	It("are not changed by writing", func() {
		arguments := map[string]any{"n": []any{json.Number("1.0")}}
		calls := []mocks.ScriptedToolCall{{Name: "f", Arguments: arguments}}
		script := mocks.Script{Replies: []mocks.Line{{Answer: mocks.Answer{ToolCalls: calls}}}}
		text, err := yaml.Dump(script)
		Expect(err).NotTo(HaveOccurred())
		Expect(string(text)).To(ContainSubstring("- 1.0"))
		Expect(arguments).To(Equal(map[string]any{"n": []any{json.Number("1.0")}}))
	})

	It("need a mapping", func() {
		_, err := parse("replies: [{tool_calls: [f]}]")
		Expect(err).To(MatchError(ContainSubstring("a tool call is a mapping with the name of the tool and its arguments")))
	})
})
