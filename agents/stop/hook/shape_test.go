package hook_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/stop/hook"
)

var _ = Describe("The host", func() {
	It("is recognised by its input", func() {
		for _, h := range hook.Hosts() {
			g := newGuard()
			s := session(deferral("write the tests"), 0)
			stdout, stderr := g.call(input(h, s, GinkgoT().TempDir()))
			answer, err := h.ReadAnswer(0, []byte(stdout))
			Expect(err).NotTo(HaveOccurred(), "%s: %s", h, stdout)
			Expect(answer.Blocked).To(BeTrue(), "%s: %s", h, stderr)
			counts, err := hook.Tallies(context.Background(), g.State)
			Expect(err).NotTo(HaveOccurred())
			Expect(counts).To(Equal([]hook.Tally{{Host: h, Sessions: 1, Blocked: 1}}))
		}
	})
	It("is the configured one, whatever the input", func() {
		g := newGuard()
		g.Host = hook.Gemini
		stdout, _ := g.call(claude("s", deferral("write the tests"), false))
		Expect(stdout).To(HavePrefix(`{"decision":"deny"`))
	})
	DescribeTable("in another form",
		func(stdin, want string) {
			stdout, stderr := newGuard().call(stdin)
			Expect(stdout).To(HavePrefix(want), stderr)
		},
		Entry("Copilot CLI with an event of VS Code", `{"hook_event_name":"Stop","session_id":"s","timestamp":"2026-09-19T10:00:00Z","transcript_path":"","stop_reason":"end_turn","last_assistant_message":"Next I will a."}`, `{"decision":"block"`),
		Entry("Copilot CLI's turn that was cut off", `{"hook_event_name":"Stop","session_id":"s","stop_reason":"max_tokens","last_assistant_message":"Next I will a."}`, ``),
		Entry("an agent with Claude Code's contract and an event of another name", `{"event":"Stop","session_id":"s","last_assistant_message":"Next I will a."}`, `{"decision":"block"`),
		Entry("a stop that cannot be refused", `{"hook_event_name":"stop","cwd":"/project"}`, `{}`),
		Entry("an event of no host", `{"hook_event_name":"PreCompact","session_id":"s"}`, `{}`),
		Entry("with a list that has nothing in it", `{"hook_event_name":"Stop","session_id":"s","background_tasks":[ `+"\n"+` ],"crons":{ },"last_assistant_message":"Next I will a."}`, `{"decision":"block"`),
		Entry("with a byte-order mark", "\xef\xbb\xbf"+`{"hook_event_name":"Stop","session_id":"s","last_assistant_message":"Next I will a."}`, `{"decision":"block"`),
		Entry("with fields of types of their own", `{"hook_event_name":"Stop","event":7,"event_type":null,"session_id":"s","transcript_path":7,"background_tasks":0,"permission_mode":{},"status":[],"loop_count":"x","last_assistant_message":"Next I will a."}`, `{"decision":"block"`),
	)
	DescribeTable("is let through if its agent is not at its end",
		func(fields string) {
			stdin := `{"hook_event_name":"Stop","session_id":"s","last_assistant_message":"Next I will a.",` + fields + `}`
			stdout, stderr := newGuard().call(stdin)
			Expect(stdout + stderr).To(Or(BeEmpty(), Equal("{}\n")))
		},
		Entry("a background task", `"background_tasks":[{"id":"1"}]`),
		Entry("a background task without id", `"background_tasks":[{}]`),
		Entry("a scheduled job", `"session_crons":["x"]`),
		Entry("scheduled jobs as an object", `"crons":{"a":1}`),
		Entry("plan mode", `"permission_mode":"plan"`),
		Entry("a subagent", `"agent_id":"1"`),
	)
	It("Gemini CLI may report that there was no text", func() {
		_, stderr := newGuard().call(`{"hook_event_name":"AfterAgent","session_id":"s","prompt_response":"[no response text]"}`)
		Expect(stderr).To(ContainSubstring("no last message"))
	})
	It("that could not reach its model is left alone", func() {
		stdout, stderr := newGuard().call(`{"hook_event_name":"StopFailure","session_id":"s","last_assistant_message":"Next I will a."}`)
		Expect(stdout + stderr).To(BeEmpty())
	})
	It("Cursor may send the message before the stop; its text is not stored", func() {
		g := newGuard()
		stdout, stderr := g.call(`{"hook_event_name":"afterAgentResponse","conversation_id":"c","text":"Next I will write the tests."}`)
		Expect([]string{stdout, stderr}).To(Equal([]string{"{}\n", ""}))
		stdout, _ = g.call(`{"hook_event_name":"stop","conversation_id":"c","status":"completed","loop_count":0,"transcript_path":null}`)
		Expect(stdout).To(HavePrefix(`{"followup_message":"Your last message announces work that is not done`))
		Expect(remembered(g.State)).NotTo(ContainSubstring("tests"))
		// The next stop has no message of its own.
		stdout, stderr = g.call(`{"hook_event_name":"stop","conversation_id":"c","status":"completed","loop_count":1}`)
		Expect(stdout).To(Equal("{}\n"))
		Expect(stderr).To(ContainSubstring("no last message"))
	})
})

// remembered returns the content of all files of a state folder, and their names.
func remembered(dir string) string {
	GinkgoHelper()
	var all strings.Builder
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	Expect(err).NotTo(HaveOccurred())
	for _, file := range files {
		data, err := os.ReadFile(file)
		Expect(err).NotTo(HaveOccurred())
		fmt.Fprintf(&all, "%s: %s", file, data)
	}
	return all.String()
}
