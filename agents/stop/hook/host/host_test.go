package host_test

import (
	"strings"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/stop/hook"
	"github.com/rehearse-dev/rehearse/agents/stop/hook/host"
)

func TestHost(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "agents/stop/hook/host")
}

var _ = Describe("a host", func() {
	DescribeTable("takes an answer for what it is",
		func(h hook.Host, stdout string, want host.Answer) {
			Expect(host.Read(h, 0, []byte(stdout))).To(Equal(want))
		},
		Entry(nil, hook.Claude, "", host.Answer{}),
		Entry(nil, hook.Codex, "\n", host.Answer{}),
		Entry(nil, hook.Gemini, "{}", host.Answer{}),
		Entry(nil, hook.OpenHands, `{"decision":"allow"}`, host.Answer{}),
		Entry(nil, hook.Claude, `{"systemMessage":"x"}`, host.Answer{}),
		Entry(nil, hook.Claude, `{"decision":"block","reason":"x"}`, host.Answer{Blocked: true, Reason: "x"}),
		Entry(nil, hook.Gemini, `{"decision":"deny","reason":"x"}`, host.Answer{Blocked: true, Reason: "x"}),
		Entry(nil, hook.Cursor, `{"followup_message":"x"}`, host.Answer{Blocked: true, Reason: "x"}),
		Entry("10,000 units", hook.Claude, `{"decision":"block","reason":"`+strings.Repeat("😀", 5000)+`"}`,
			host.Answer{Blocked: true, Reason: strings.Repeat("😀", 5000)}),
	)
	DescribeTable("complains about an answer that it could not use",
		func(h hook.Host, status int, stdout, says string) {
			_, err := host.Read(h, status, []byte(stdout))
			Expect(err).To(MatchError(ContainSubstring(says)))
		},
		Entry(nil, hook.Claude, 2, "", "exit status 2"),
		Entry(nil, hook.Gemini, 0, "", "wants JSON"),
		Entry(nil, hook.Claude, 0, "go on", "not one JSON object"),
		Entry(nil, hook.Claude, 0, "{}{}", "not one JSON object"),
		Entry(nil, hook.Codex, 0, `{"decision":"block","reason":"x","hookSpecificOutput":{}}`, `key "hookSpecificOutput"`),
		Entry(nil, hook.Cursor, 0, `{"decision":"block","reason":"x"}`, "does not know"),
		Entry(nil, hook.Codex, 0, `{"decision":"block","reason":" "}`, "not told why"),
		Entry(nil, hook.Claude, 0, `{"decision":true}`, "wrong type"),
		Entry("10,001 units", hook.Claude, 0, `{"decision":"block","reason":"`+strings.Repeat("😀", 5000)+`x"}`, "hosts take 10000"),
		Entry(nil, hook.Host("kiro"), 0, "", "is none of"),
	)
	It("that is none sends nothing", func() {
		_, err := host.Input("kiro", host.Stop{})
		Expect(err).To(MatchError(ContainSubstring("is none of")))
		_, err = host.Transcript(hook.OpenHands, "x")
		Expect(err).To(MatchError(ContainSubstring("has no transcript")))
	})
	It("sends a subagent's stop as one", func() {
		stdin, err := host.Input(hook.Claude, host.Stop{Session: "s", Agent: "a", Transcript: "/t.jsonl"})
		Expect(err).NotTo(HaveOccurred())
		Expect(string(stdin)).To(And(ContainSubstring(`"hook_event_name":"SubagentStop"`),
			ContainSubstring(`"agent_id":"a"`), ContainSubstring(`"agent_transcript_path":"/t.jsonl"`)))
	})
	It("says that work goes on in the background", func() {
		stdin, err := host.Input(hook.Qwen, host.Stop{Session: "s", Background: 2})
		Expect(err).NotTo(HaveOccurred())
		Expect(string(stdin)).To(MatchRegexp(`"background_tasks":\[\{.*"task-1".*"task-2"`))
	})
	It("starts the guard with nothing but its environment", func() {
		argv, env, err := host.Command("/bin/rehearse", hook.Config{Host: hook.Codex, Shadow: true})
		Expect(err).NotTo(HaveOccurred())
		Expect(argv).To(Equal([]string{"/bin/rehearse"}))
		Expect(env).To(ContainElement(`REHEARSE_GUARD={"host":"codex","shadow":true}`))
	})
})
