package incident_test

import (
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness/incident"
	"github.com/rehearse-dev/rehearse/mocks/capture"
	"github.com/rehearse-dev/rehearse/mocks/mcp"
)

// served is a recording with calls of the tools of MCP servers: the attributes of their events, without server and
// tool, and their results.
func served(calls ...[2]string) string {
	var events strings.Builder
	for i, call := range calls {
		attrs, result := call[0], call[1]
		if !strings.Contains(attrs, `"tool"`) {
			attrs = `"server":"tickets","tool":"lookup",` + attrs
		}
		if !strings.Contains(attrs, `"line"`) {
			attrs += `,"line":"mcp[0].tools[0].replies[0]"`
		}
		fmt.Fprintf(&events, `{"hash":"%032d","seq":%d,"type":"event","kind":"tool","name":"mcp","n":%d,"detail":%q,"attrs":{%s,"calls":1}}`+"\n",
			0, 9, len(calls)-i, result, attrs)
	}
	text := recorded(`,"where":{"mcp":3}`, `"delivered":true,"frames":1,"bytes":1`, "done")
	before, _, _ := strings.Cut(text, `"type":"end"`)
	end := strings.LastIndex(before, "\n") + 1
	return text[:end] + events.String() + text[end:]
}

var _ = Describe("MCP servers of a recording", func() {
	imported := func(text string, o incident.Options) (string, []string) {
		GinkgoHelper()
		conversations, findings, err := read(incident.Recording, text)
		Expect(err).NotTo(HaveOccurred())
		Expect(findings).To(BeEmpty())
		o.Drive = map[string]any{"http": map[string]any{}}
		sc := written(conversations[0], o)
		_, servers, ok := strings.Cut(string(sc.Text), "\nmcp:\n")
		if !ok {
			return "", sc.Notes
		}
		servers, _, _ = strings.Cut(servers, "\n# TODO")
		_, servers, _ = strings.Cut("\n"+servers, "\n        replies:\n")
		return strings.Join(strings.Fields(servers), " "), sc.Notes
	}
	copied := ContainElement("Of MCP servers, only the calls are recorded; copy transports, descriptions, schemas, resources, prompts and " +
		"other tools from mcp: in scenarios/order.yaml if the agent needs them.")

	It("are scripted, with faults of the script and injected ones, in order of arrival", func() {
		// The events are in the order in which the calls ended.
		text, notes := imported(served(
			[2]string{`"arguments":"{}"`, ""},
			[2]string{`"arguments":"{\"id\":\"1\"}","latency_ns":2000000000`, "open"},
			[2]string{`"arguments":"{\"id\":\"1\"}","fault":"list_changed"`, "later"},
			[2]string{`"arguments":"{\"id\":\"1\"}","fault":"protocol_error","error":"the scripted server reported an internal error"`, ""},
			[2]string{`"arguments":"{\"id\":\"1\",\"n\":[1]}","fault":"error","error":"the tool failed"`, ""},
			[2]string{`"arguments":"{\"id\":\"1\"}","error":"no such ticket"`, ""},
		), incident.Options{})
		const one = `- when: arguments: id: equals: '1' `
		Expect(text).To(Equal(one + "error: no such ticket - when: arguments: id: equals: '1' 'n': equals: '[1]' error: the tool failed " +
			one + "fault: protocol_error " + one + "text: later fault: list_changed " + one + "text: open latency: 2s - text: ''"))
		Expect(notes).To(And(copied, ContainElement("The faults of MCP servers are scripted at the calls where they took effect: 3.")))
	})

	It("have no conditions if the script has none", func() {
		text, _ := imported(served([2]string{`"arguments":"{\"id\":\"1\"}"`, "open"}), incident.Options{Match: capture.InOrder})
		Expect(text).To(Equal("- text: open"))
	})

	It("lack calls that took no line", func() {
		text, notes := imported(served(
			[2]string{`"arguments":"{\"id\":\"1\"}"`, "open"},
			[2]string{`"arguments":"{}","error":"` + mcp.NotAwaited + `"`, ""},
			[2]string{`"arguments":"{}","line":"","error":"no rule answers this call"`, ""},
		), incident.Options{})
		Expect(text).To(HaveSuffix("text: open"))
		Expect(notes).To(ContainElement("Calls of MCP servers that no line answered, or for which the agent did not wait, are left out: 2."))
	})

	It("note results that were cut, and replace secrets", func() {
		text, notes := imported(served([2]string{`"arguments":"{\"key\":\"sk-proj-abcdefgh12345678\"}"`, strings.Repeat("x", mcp.MaxRecorded)}), incident.Options{})
		Expect(notes).To(ContainElement("Long results of MCP servers were recorded without their end: 1."))
		Expect(text).To(ContainSubstring("[REDACTED:api-key]"))
		Expect(text).NotTo(ContainSubstring("sk-proj"))
	})

	It("are left out if they cannot be scripted", func() {
		text, notes := imported(served([2]string{`"server":"T T","tool":"x","arguments":"{}"`, "open"}), incident.Options{})
		Expect(text).To(BeEmpty())
		Expect(notes).To(ContainElements(
			HavePrefix("The MCP servers are left out, as their recorded calls are not a valid script: mcp[0].name: "),
			"MCP servers are not recorded; copy mcp: from scenarios/order.yaml."))
	})
})
