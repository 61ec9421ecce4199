package incident_test

import (
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness/incident"
)

var _ = Describe("documents that are not JSON", func() {
	const whole = "{\n \"resourceSpans\": [\n  {\n   \"scopeSpans\": [\n    {}\n   ]\n  }\n ]\n}\n"

	DescribeTable("are one error", func(text, message string) {
		for _, format := range []incident.Format{incident.Auto, incident.OTLP} {
			_, findings, err := read(format, text)
			Expect(err).To(MatchError(MatchRegexp(`^import .*a\.jsonl: ` + message + "$")))
			Expect(findings).To(BeEmpty())
		}
	},
		Entry("an empty file", "", "the file is empty"),
		Entry("a file of white space", "\ufeff \n\n", "the file is empty"),
		Entry("a document that was cut off", whole[:60], "the file is not valid JSON: it ends in line 7, within a value"),
		Entry("a document with an error", strings.Replace(whole, "{}", "{},,", 1),
			"the file is not valid JSON: line 5: invalid character ',' looking for beginning of value"),
		Entry("a line that was cut off", `{"resourceSpans":[`, "the file is not valid JSON: it ends in line 1, within a value"),
	)

	It("may be lines among others, also the first and several", func() {
		conversations, findings, err := read(incident.Auto, "{\"resourceSpans\":[\n"+testdata("otlp-messages.jsonl")+"{\n")
		Expect(err).NotTo(HaveOccurred())
		Expect(conversations).To(HaveLen(1))
		Expect(findings).To(HaveLen(2))
		sc := written(conversations[0], incident.Options{})
		Expect(sc.Notes).To(ContainElement("2 lines of the file are not JSON and are left out, so calls may be missing."))
		Expect(string(sc.Text)).To(ContainSubstring("at_least: 2"))
		Expect(string(sc.Text)).NotTo(ContainSubstring("status: done"))
	})
})

// claudeLine is a line of a session of Claude Code. Content is JSON.
func claudeLine(n int, kind, content string) string {
	return fmt.Sprintf(`{"sessionId":"s","uuid":"u%d","type":%q,"timestamp":"2026-11-20T10:00:%02dZ","message":{"id":"m%d","content":[%s]}}`,
		n, kind, n, n, content)
}

func text(s string) string { return fmt.Sprintf(`{"type":"text","text":%q}`, s) }
func use(id string) string {
	return fmt.Sprintf(`{"type":"tool_use","id":%q,"name":"T","input":{}}`, id)
}

func given(id string) string {
	return fmt.Sprintf(`{"type":"tool_result","tool_use_id":%q,"content":"r"}`, id)
}

// codexLine is an item of a rollout of Codex.
func codexLine(item string) string {
	return `{"type":"response_item","timestamp":"2026-11-20T10:00:00Z","payload":` + item + `}`
}

const broken = `{"type":"assis`

var _ = DescribeTable("sessions without an answer, or a part of one", func(format incident.Format, lines []string, notes ...string) {
	conversations, _, err := read(format, strings.Join(lines, "\n"))
	Expect(err).NotTo(HaveOccurred())
	Expect(conversations).To(HaveLen(1))
	sc := written(conversations[0], incident.Options{})
	for _, note := range notes {
		Expect(sc.Notes).To(ContainElement(note))
	}
	Expect(sc.Incomplete).To(BeTrue())
	Expect(string(sc.Text)).To(ContainSubstring("at_least: 1"))
	Expect(string(sc.Text)).NotTo(ContainSubstring("status: done"))
},
	Entry("the line with a call", incident.Claude, []string{
		claudeLine(1, "user", text("hi")), claudeLine(2, "assistant", use("c1")), claudeLine(3, "user", given("c1")),
		broken, claudeLine(5, "user", given("c2")), claudeLine(6, "assistant", text("done")),
	}, "1 line of the file is not JSON and is left out, so a call may be missing.",
		"The file has the result of the tool call c2 but not the call.",
		"The script ends before call 2 of 3: its answer is not in the file."),
	Entry("the line with a call was removed", incident.Claude, []string{
		claudeLine(1, "user", text("hi")), claudeLine(2, "assistant", use("c1")), claudeLine(3, "user", given("c1")),
		claudeLine(5, "user", given("c2")), claudeLine(6, "assistant", text("done")),
	}, "The script ends before call 2 of 3: its answer is not in the file."),
	Entry("the line with the second call of an answer", incident.Claude, []string{
		claudeLine(1, "user", text("hi")), claudeLine(2, "assistant", use("c1")), claudeLine(3, "user", given("c1")),
		claudeLine(4, "assistant", use("c2")), broken, claudeLine(6, "user", given("c2")), claudeLine(7, "user", given("c3")),
		claudeLine(8, "assistant", text("done")),
	}, "The script ends before call 2 of 3: its answer is not in the file."),
	Entry("the line with an answer between two questions", incident.Claude, []string{
		claudeLine(1, "user", text("hi")), claudeLine(2, "assistant", text("hello")), claudeLine(3, "user", text("and?")),
		broken, claudeLine(5, "user", text("thanks")), claudeLine(6, "assistant", text("welcome")),
	}, "The script ends before call 2 of 3: its answer is not in the file."),
	Entry("the last answer", incident.Claude, []string{
		claudeLine(1, "user", text("hi")), claudeLine(2, "assistant", text("hello")), claudeLine(3, "user", text("and?")), broken,
	}, "The script ends before call 2 of 2: its answer is not in the file."),
	Entry("a call of Codex", incident.Codex, []string{
		codexLine(`{"type":"message","role":"user","content":[{"text":"hi"}]}`),
		codexLine(`{"type":"function_call","call_id":"c1","name":"f","arguments":"{}"}`),
		codexLine(`{"type":"function_call_output","call_id":"c1","output":"r"}`),
		broken,
		codexLine(`{"type":"function_call_output","call_id":"c2","output":"r"}`),
		codexLine(`{"type":"message","role":"assistant","content":[{"type":"output_text","text":"done"}]}`),
	}, "1 line of the file is not JSON and is left out, so a call may be missing.",
		"The file has the result of the tool call c2 but not the call.",
		"The script ends before call 2 of 3: its answer is not in the file."),
	Entry("the second call of an answer of Codex", incident.Codex, []string{
		codexLine(`{"type":"message","role":"user","content":[{"text":"hi"}]}`),
		codexLine(`{"type":"message","role":"assistant","content":[{"type":"output_text","text":"hello"}]}`),
		codexLine(`{"type":"message","role":"user","content":[{"text":"and?"}]}`),
		codexLine(`{"type":"function_call","call_id":"c1","name":"f","arguments":"{}"}`),
		broken,
		codexLine(`{"type":"function_call_output","call_id":"c1","output":"r"}`),
		codexLine(`{"type":"function_call_output","call_id":"c2","output":"r"}`),
		codexLine(`{"type":"message","role":"assistant","content":[{"type":"output_text","text":"done"}]}`),
	}, "The script ends before call 2 of 3: its answer is not in the file."),
)

var _ = It("keeps the whole script if a line is broken that no answer needs", func() {
	conversations, _, err := read(incident.Claude, strings.Join([]string{
		claudeLine(1, "user", text("hi")), claudeLine(2, "assistant", use("c1")), broken,
		claudeLine(4, "user", given("c1")), claudeLine(5, "assistant", text("done")),
	}, "\n"))
	Expect(err).NotTo(HaveOccurred())
	sc := written(conversations[0], incident.Options{})
	Expect(sc.Incomplete).To(BeFalse())
	Expect(string(sc.Text)).To(ContainSubstring("at_least: 2"))
})
