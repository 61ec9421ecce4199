package incident_test

import (
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness/incident"
)

// recorded is a recording of one trial: the first call fails because of a fault, the second has an answer.
func recorded(scenario, fault, status string) string {
	text := fmt.Sprintf(`{"type":"run","schema":"rehearse.recording/1","id":"r"}
{"type":"scenario","name":"shop/order","file":"scenarios/order.yaml","agent":"http"%s}
{"type":"trial","scenario":"shop/order","n":1}
{"type":"message","id":"m1","role":"user","content":"hi"}
{"type":"message","id":"m2","role":"assistant","content":"hello"}
{"type":"call","n":1,"model":"m","messages":["m1"],"error":{"kind":"unavailable","status":200,"message":"the scripted fault"}}
{"type":"call","n":2,"model":"m","messages":["m1"],"reply":"m2","finish":"stop"}
{"type":"exchange","n":1,"line":"replies[0]","status":%d,%s}
{"type":"exchange","n":2,"line":"replies[1]","status":200,"delivered":true,"frames":1,"bytes":1}
{"type":"event","kind":"state","name":"turn","n":1,"attrs":{"user":"hi","calls":2}}
{"type":"end","status":%q}
{"type":"close","trials":1}
`, scenario, 429, fault, status)
	var b strings.Builder
	for line := range strings.Lines(text) { // the reader does not check the hashes
		fmt.Fprintf(&b, `{"hash":"%032d","seq":%d,%s`, 0, strings.Count(b.String(), "\n")+1, line[1:])
	}
	return b.String()
}

var _ = Describe("recordings", func() {
	const reset = `"fault":"reset-mid-stream","fired":true,"delivered":false,"frames":1,"bytes":1`
	imported := func(text string, o incident.Options) incident.Scenario {
		GinkgoHelper()
		conversations, findings, err := read(incident.Recording, text)
		Expect(err).NotTo(HaveOccurred())
		Expect(findings).To(BeEmpty())
		return written(conversations[0], o)
	}

	It("script the fault of a failed call", func() {
		sc := imported(recorded("", reset, "done"), incident.Options{})
		Expect(string(sc.Text)).To(ContainSubstring("      fault:\n        kind: reset-mid-stream\n"))
		Expect(string(sc.Text)).To(ContainSubstring("expect:\n  calls: 2\n  status: done\n"))
		Expect(sc.Incomplete).To(BeFalse())
		Expect(sc.Notes).To(ContainElement(HavePrefix("A recording does not have the answers that faults changed")))
	})

	It("script the status of a failed call, without the text of its error", func() {
		sc := imported(recorded("", `"fault":"status","fired":true,"delivered":true,"frames":1,"bytes":1`, "done"), incident.Options{})
		Expect(string(sc.Text)).To(ContainSubstring("      fault:\n        kind: status\n        status: 429\n"))
		Expect(string(sc.Text)).NotTo(ContainSubstring("the scripted fault"))
	})

	It("note a failed call without a fault", func() {
		sc := imported(recorded("", `"delivered":false,"frames":1,"bytes":1`, "done"), incident.Options{})
		Expect(sc.Incomplete).To(BeTrue())
		Expect(sc.Notes).To(ContainElement("Call 1 is left out: it failed (the scripted fault), and its HTTP status is not known."))
	})

	It("note how a run ended that failed", func() {
		sc := imported(recorded("", reset, "failed"), incident.Options{})
		Expect(sc.Notes).To(ContainElement("The recorded run ended with the status failed."))
		Expect(string(sc.Text)).To(ContainSubstring("at_least: 2"))
		Expect(string(sc.Text)).NotTo(ContainSubstring("status: done"))
	})

	It("limit the fault of the last call, as each attempt is recorded", func() {
		var lines []string
		for line := range strings.Lines(recorded("", reset, "failed")) {
			if !strings.Contains(line, `"call","n":2`) && !strings.Contains(line, `"exchange","n":2`) {
				lines = append(lines, line)
			}
		}
		sc := imported(strings.Join(lines, ""), incident.Options{})
		Expect(string(sc.Text)).To(ContainSubstring("  replies:\n"))
		Expect(sc.Notes).NotTo(ContainElement(ContainSubstring("has no limit")))
	})

	It("are named after their scenario and trial", func() {
		Expect(imported(recorded("", reset, "done"), incident.Options{}).Name).To(Equal("incident/shop-order-1"))
	})

	DescribeTable("note what to copy from the scenario", func(more string, drive map[string]any, note string) {
		sc := imported(recorded(more, reset, "done"), incident.Options{Drive: drive})
		if note == "" {
			Expect(sc.Notes).NotTo(ContainElement(ContainSubstring("copy")))
			return
		}
		Expect(sc.Notes).To(ContainElement(note))
	},
		Entry("the agent's options", "", nil, "The agent's options are not recorded; copy drive: from scenarios/order.yaml."),
		Entry("MCP servers, too", `,"where":{"mcp":3}`, nil,
			"The agent's options and MCP servers are not recorded; copy drive: and mcp: from scenarios/order.yaml."),
		Entry("MCP servers alone", `,"where":{"mcp":3}`, map[string]any{"http": map[string]any{}},
			"MCP servers are not recorded; copy mcp: from scenarios/order.yaml."),
		Entry("nothing", "", map[string]any{"http": map[string]any{}}, ""),
	)
})
