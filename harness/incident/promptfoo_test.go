package incident_test

import (
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness/incident"
)

// result returns the results of promptfoo with one result.
func result(provider, vars, assertion string) string {
	return fmt.Sprintf(`{"evalId":"e","results":{"results":[{"provider":{"id":%q},"prompt":{"raw":"hi"},"response":{"output":"Hi."},`+
		`"vars":%s,"testCase":{"assert":[%s]}}]}}`, provider, vars, assertion)
}

var _ = DescribeTable("assertions of promptfoo with variables", func(value, vars string, expect []string, note string) {
	text := result("openai:chat:gpt-4.1", vars, fmt.Sprintf(`{"type":"contains","value":%q}`, value))
	conversations, _, err := read(incident.Promptfoo, text)
	Expect(err).NotTo(HaveOccurred())
	Expect(conversations[0].Expect).To(Equal(expect))
	if note != "" {
		Expect(conversations[0].Notes).To(ContainElement(note))
	}
},
	Entry("a text", "a {{what}} b {{ who }}", `{"what":"x \"y\"","who":"z"}`, []string{`run.text.contains("a x \"y\" b z")`}, ""),
	Entry("a number", "{{n}}", `{"n":1.0}`, []string{`run.text.contains("1.0")`}, ""),
	Entry("none", "plain", `{}`, []string{`run.text.contains("plain")`}, ""),
	Entry("an unknown one", "{{what}}", `{}`, nil, `The assertion "contains" of promptfoo is left out: its value "{{what}}" is a template.`),
	Entry("a list", "{{what}}", `{"what":["x"]}`, nil, `The assertion "contains" of promptfoo is left out: its value "{{what}}" is a template.`),
	Entry("a filter", "{{what | upper}}", `{"what":"x"}`, nil,
		`The assertion "contains" of promptfoo is left out: its value "{{what | upper}}" is a template.`),
	Entry("a block", "{% if a %}x{% endif %}", `{"a":"x"}`, nil,
		`The assertion "contains" of promptfoo is left out: its value "{% if a %}x{% endif %}" is a template.`),
)

var _ = DescribeTable("models of promptfoo's providers", func(provider, model string) {
	conversations, _, err := read(incident.Promptfoo, result(provider, "{}", ""))
	Expect(err).NotTo(HaveOccurred())
	Expect(conversations[0].Turns[0].Reply.Model).To(Equal(model))
	note := ContainElement(fmt.Sprintf("The provider %q of promptfoo does not name a model, so it is not known.", provider))
	if model != "" {
		note = Not(note)
	}
	Expect(conversations[0].Notes).To(note)
},
	Entry("of OpenAI", "openai:chat:gpt-4.1", "gpt-4.1"),
	Entry("of Anthropic", "anthropic:claude-sonnet-4-5", "claude-sonnet-4-5"),
	Entry("of Ollama", "ollama:chat:llama3:8b", "llama3:8b"),
	Entry("of Bedrock", "bedrock:anthropic.claude-3-5-sonnet-20241022-v2:0", "anthropic.claude-3-5-sonnet-20241022-v2:0"),
	Entry("of the user", "own-agent", ""),
	Entry("a file", "file://provider.py:call", ""),
	Entry("an address", "https://example.com/agent", ""),
)
