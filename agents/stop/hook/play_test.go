package hook_test

import (
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/stop/hook"
)

var _ = Describe("The host's side of the contract", func() {
	emoji := strings.Repeat("😀", 5000)
	DescribeTable("reads an answer as the host does",
		func(h hook.Host, stdout string, want hook.Answer) {
			Expect(h.ReadAnswer(0, []byte(stdout))).To(Equal(want))
		},
		Entry("Claude Code: nothing", hook.Claude, "", hook.Answer{}),
		Entry("Codex: a blank line", hook.Codex, "\n", hook.Answer{}),
		Entry("Gemini: an empty object", hook.Gemini, "{}", hook.Answer{}),
		Entry("OpenHands: allow", hook.OpenHands, `{"decision":"allow"}`, hook.Answer{}),
		Entry("Claude Code: a message to the user", hook.Claude, `{"systemMessage":"x"}`, hook.Answer{}),
		Entry("Claude Code: block", hook.Claude, `{"decision":"block","reason":"x"}`, hook.Answer{Blocked: true, Reason: "x"}),
		Entry("Gemini: deny", hook.Gemini, `{"decision":"deny","reason":"x"}`, hook.Answer{Blocked: true, Reason: "x"}),
		Entry("Cursor: a follow-up message", hook.Cursor, `{"followup_message":"x"}`, hook.Answer{Blocked: true, Reason: "x"}),
		Entry("a reason of 10,000 UTF-16 units", hook.Claude, `{"decision":"block","reason":"`+emoji+`"}`,
			hook.Answer{Blocked: true, Reason: emoji}),
	)
	DescribeTable("returns an error for an answer that the host could not use",
		func(h hook.Host, status int, stdout, message string) {
			_, err := h.ReadAnswer(status, []byte(stdout))
			Expect(err).To(MatchError(ContainSubstring(message)))
		},
		Entry("an exit status other than 0", hook.Claude, 2, "", "exit status 2"),
		Entry("nothing, where JSON is expected", hook.Gemini, 0, "", "expects JSON"),
		Entry("text", hook.Claude, 0, "go on", "not one JSON object"),
		Entry("two objects", hook.Claude, 0, "{}{}", "not one JSON object"),
		Entry("a key of another host", hook.Codex, 0, `{"decision":"block","reason":"x","hookSpecificOutput":{}}`, `key "hookSpecificOutput"`),
		Entry("a decision, which Cursor does not take", hook.Cursor, 0, `{"decision":"block","reason":"x"}`, "does not know"),
		Entry("a blank reason", hook.Codex, 0, `{"decision":"block","reason":" "}`, "without a reason"),
		Entry("a decision that is not text", hook.Claude, 0, `{"decision":true}`, "wrong type"),
		Entry("a reason of 10,001 UTF-16 units", hook.Claude, 0, `{"decision":"block","reason":"`+emoji+`x"}`, "hosts accept 10000"),
		Entry("an unknown host", hook.Host("kiro"), 0, "", "not a known host"),
	)
	It("returns an error for the input of an unknown host", func() {
		_, err := hook.Host("kiro").Input(hook.Stop{})
		Expect(err).To(MatchError(ContainSubstring("not a known host")))
	})
	It("returns an error for the transcript of a host that has none", func() {
		_, err := hook.OpenHands.Transcript("", "x")
		Expect(err).To(MatchError(ContainSubstring("has no transcript")))
	})
	It("reports the stop of a subagent", func() {
		stdin, err := hook.Claude.Input(hook.Stop{Session: "s", Agent: "a", Transcript: "/t.jsonl"})
		Expect(err).NotTo(HaveOccurred())
		Expect(string(stdin)).To(And(ContainSubstring(`"hook_event_name":"SubagentStop"`),
			ContainSubstring(`"agent_id":"a"`), ContainSubstring(`"agent_transcript_path":"/t.jsonl"`)))
	})
	It("reports tasks in the background", func() {
		stdin, err := hook.Qwen.Input(hook.Stop{Session: "s", Background: 2})
		Expect(err).NotTo(HaveOccurred())
		Expect(string(stdin)).To(MatchRegexp(`"background_tasks":\[\{.*"task-1".*"task-2"`))
	})
	It("configures the child process by its environment alone", func() {
		argv, env, err := hook.Config{Host: hook.Codex, Shadow: true}.Command("/bin/rehearse")
		Expect(err).NotTo(HaveOccurred())
		Expect(argv).To(Equal([]string{"/bin/rehearse"}))
		Expect(env).To(ContainElement(`REHEARSE_GUARD={"host":"codex","shadow":true}`))
	})
})
