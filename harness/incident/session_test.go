package incident_test

import (
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness/incident"
)

// claudeError is a line with a failed call, as Claude Code 2.1.197 writes it. Members are JSON.
func claudeError(n int, shown, members string) string {
	return fmt.Sprintf(`{"sessionId":"s","uuid":"u%d","type":"assistant","isApiErrorMessage":true,"timestamp":"2026-11-20T10:00:%02dZ",`+
		`"message":{"id":"m%d","model":"<synthetic>","content":[{"type":"text","text":%q}]}%s}`, n, n, n, shown, members)
}

// codexError is the event with which Codex 0.171.0 ends a task that failed. Info is JSON.
func codexError(message, info string) string {
	return fmt.Sprintf(`{"type":"event_msg","timestamp":"2026-11-20T10:00:00Z",`+
		`"payload":{"type":"task_complete","error":{"message":%q,"codex_error_info":%s}}}`, message, info)
}

// codexText is a message in a rollout of Codex.
func codexText(role, s string) string {
	return codexLine(fmt.Sprintf(`{"type":"message","role":%q,"content":[{"type":"text","text":%q}]}`, role, s))
}

var _ = DescribeTable("the failed calls of sessions", func(format incident.Format, line string, status int, message string) {
	conversations, findings, err := read(format, line)
	Expect(err).NotTo(HaveOccurred())
	Expect(findings).To(BeEmpty())
	Expect(conversations[0].Turns).To(HaveLen(1))
	Expect(conversations[0].Turns[0].Failure).To(Equal(&incident.Failure{Status: status, Message: message}))
	Expect(conversations[0].Done).To(BeFalse())
},
	Entry("Claude Code: with the answer of the provider", incident.Claude, claudeError(1, "Prompt is too long",
		`,"errorDetails":"400 {\"type\":\"error\",\"error\":{\"message\":\"prompt is too long\"}}","apiErrorStatus":400`),
		400, "prompt is too long"),
	Entry("Claude Code: with the message of the provider", incident.Claude,
		claudeError(1, "API Error: 400 bad 400", `,"apiErrorStatus":400`), 400, "bad 400"),
	Entry("Claude Code: with words of its own", incident.Claude,
		claudeError(1, "Failed to authenticate. API Error: 403 bad 403", `,"apiErrorStatus":403`), 403, ""),
	Entry("Claude Code: with words of its own about the server", incident.Claude,
		claudeError(1, "API Error: 500 bad 500. This is a server-side issue", `,"apiErrorStatus":500`), 500, ""),
	Entry("Claude Code: before it wrote the status apart", incident.Claude,
		claudeError(1, `API Error: 529 {"type":"error","error":{"message":"Overloaded"}}`, ""), 529, "Overloaded"),
	Entry("Claude Code: without a status", incident.Claude, claudeError(1, "Not logged in", ""), 0, "Not logged in"),
	Entry("Codex: 400", incident.Codex, codexError(`{"error":{"message":"too long","type":"invalid_request_error"}}`, `"other"`), 400, "too long"),
	Entry("Codex: 401", incident.Codex, codexError("unexpected status 401 Unauthorized: bad, 401, url: http://127.0.0.1/v1/responses",
		`{"http_connection_failed":{"http_status_code":401}}`), 401, "bad, 401"),
	Entry("Codex: 429", incident.Codex, codexError("exceeded retry limit, last status: 429 Too Many Requests",
		`{"response_too_many_failed_attempts":{"http_status_code":429}}`), 429, ""),
	Entry("Codex: 500", incident.Codex, codexError("We’re currently experiencing high demand.", `"internal_server_error"`), 500, ""),
	Entry("Codex: 503 in its message alone", incident.Codex,
		codexError("unexpected status 503 Service Unavailable: no, url: http://x", `"other"`), 503, "no"),
	Entry("Codex: 502 apart from its message", incident.Codex,
		codexError("stream failed", `{"response_stream_connection_failed":{"http_status_code":502}}`), 502, ""),
	Entry("Codex: without a status", incident.Codex, codexError("the context is full", `"context_window_exceeded"`), 0, "the context is full"),
)

var _ = It("reads an error of Codex once that is an event and the end of a task", func() {
	first := strings.Replace(codexError("unexpected status 503 x: no, url: y", `"other"`), `"task_complete","error":{`, `"error",`, 1)
	first = strings.TrimSuffix(first, "}")
	conversations, _, err := read(incident.Codex, strings.Join([]string{
		codexText("user", "hi"), first, codexError("unexpected status 503 x: no, url: y", `"other"`),
		`{"type":"event_msg","payload":{"type":"task_started"}}`, codexError("unexpected status 500 x: no, url: y", `"other"`),
	}, "\n"))
	Expect(err).NotTo(HaveOccurred())
	Expect(conversations[0].Turns).To(HaveLen(2))
})

var _ = DescribeTable("scenarios of sessions with failed calls", func(lines []string, users string, calls int, text string, notes ...string) {
	conversations, _, err := read(incident.Auto, strings.Join(lines, "\n"))
	Expect(err).NotTo(HaveOccurred())
	sc := written(conversations[0], incident.Options{})
	Expect(string(sc.Text)).To(ContainSubstring("    turns:\n      - " + strings.ReplaceAll(users, " ", "\n      - ") + "\n# The model"))
	Expect(string(sc.Text)).To(ContainSubstring("at_least: %d\n", calls))
	Expect(string(sc.Text)).NotTo(ContainSubstring("status: done"))
	Expect(string(sc.Text)).To(ContainSubstring(text))
	for _, note := range notes {
		Expect(sc.Notes).To(ContainElement(ContainSubstring(note)))
	}
},
	Entry("end with the first of the last ones", []string{
		claudeLine(1, "user", text("hi")), claudeLine(2, "assistant", text("hello")), claudeLine(3, "user", text("boom")),
		claudeError(4, "API Error: 400 no", ""), claudeLine(5, "user", text("again")), claudeError(6, "API Error: 400 no", ""),
	}, "hi boom", 2, "    - fault:\n        kind: status\n        status: 400\n        message: 'no'\n",
		"Call 2 failed, and the script ends with it.", "What the user wrote after the end of the script is left out: 1 message."),
	Entry("allow the client one attempt", []string{claudeLine(1, "user", text("hi")), claudeError(2, "API Error: 400 no", "")},
		"hi", 1, "    retries: 0\n"),
	Entry("of Codex", []string{
		codexText("user", "hi"), codexText("assistant", "hello"), codexText("user", "boom"), codexError(`{"error":{"message":"bad"}}`, `"other"`),
	}, "hi boom", 2, "        status: 400\n        message: bad\n"),
	Entry("leave out a message that failed if the session went on", []string{
		claudeLine(1, "user", text("hi")), claudeError(2, "API Error: 529 no", ""), claudeLine(3, "user", text("again")),
		claudeLine(4, "assistant", text("hello")),
	}, "again", 1, "text: hello", `The message "hi" is left out with its only call: it failed with the status 529, and the session went on.`),
	Entry("leave out such a message also if the last one fails", []string{
		claudeLine(1, "user", text("hi")), claudeError(2, "API Error: 529 no", ""), claudeLine(3, "user", text("again")),
		claudeLine(4, "assistant", text("hello")), claudeLine(5, "user", text("boom")), claudeError(6, "API Error: 400 no", ""),
		claudeLine(7, "user", text("more")), claudeError(8, "API Error: 400 no", ""),
	}, "again boom", 2, "status: 400", "Call 2 failed, and the script ends with it."),
	Entry("leave out a message that failed without a status", []string{
		claudeLine(1, "user", text("hi")), claudeLine(2, "assistant", text("hello")), claudeLine(3, "user", text("boom")),
		claudeError(4, "Not logged in", ""),
	}, "hi", 1, "text: hello", `The message "boom" is left out with its only call: it failed (Not logged in), and its HTTP status is not known.`),
	Entry("end with one among the calls for a message", []string{
		claudeLine(1, "user", text("hi")), claudeLine(2, "assistant", use("c1")), claudeLine(3, "user", given("c1")),
		claudeError(4, "API Error: 400 no", ""), claudeLine(5, "user", text("again")), claudeLine(6, "assistant", text("hello")),
	}, "hi", 2, "status: 400", "Call 2 failed, and the script ends with it."),
	Entry("end before one without a status among the calls for a message", []string{
		claudeLine(1, "user", text("hi")), claudeLine(2, "assistant", use("c1")), claudeLine(3, "user", given("c1")),
		claudeError(4, "Not logged in", ""), claudeLine(5, "user", text("again")), claudeLine(6, "assistant", text("hello")),
	}, "hi", 1, "id: c1", "The script ends before call 2 of 3: it failed (Not logged in), and its HTTP status is not known."),
	Entry("end before the message whose answer is missing", []string{
		claudeLine(1, "user", text("hi")), claudeLine(2, "assistant", text("hello")), claudeLine(3, "user", text("and")),
		broken, claudeLine(5, "user", text("thanks")), claudeLine(6, "assistant", text("welcome")),
	}, "hi", 1, "text: hello", "What the user wrote after the end of the script is left out: 2 messages."),
)

var _ = It("does not take words of Claude Code without a call for a failed one, and notes compactions once", func() {
	const compacted = `{"sessionId":"s","type":"system","subtype":"compact_boundary"}`
	placeholder := strings.Replace(claudeError(4, "No response requested.", ""), "true", "false", 1)
	conversations, _, err := read(incident.Claude, strings.Join([]string{
		claudeLine(1, "user", text("hi")), claudeLine(2, "assistant", text("hello")), compacted, compacted, placeholder,
		claudeLine(5, "user", text("and?")), claudeLine(6, "assistant", text("welcome")),
	}, "\n"))
	Expect(err).NotTo(HaveOccurred())
	sc := written(conversations[0], incident.Options{})
	Expect(strings.Count(strings.Join(sc.Notes, "\n"), "The session was compacted; the call that did so is not in the file.")).To(Equal(1))
	Expect(sc.Notes).NotTo(ContainElement(ContainSubstring("fail")))
	Expect(string(sc.Text)).To(ContainSubstring("calls: 2\n  status: done"))
})
