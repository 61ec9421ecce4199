package hook_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/stop"
	"github.com/rehearse-dev/rehearse/agents/stop/hook"
)

// requested returns the user's request with which a call is judged, and the reason of a refusal.
func requested(h hook.Host, stdin string) (request, reason string) {
	GinkgoHelper()
	g := newGuard()
	g.Host, g.Subagents = h, true
	judged := false
	g.Judge = func(message string, o stop.Options) stop.Verdict {
		request, judged = o.Request, true
		return judge(message, o)
	}
	stdout, stderr := g.call(stdin)
	Expect(judged).To(BeTrue(), stderr)
	Expect(stderr).To(BeEmpty())
	answer, err := h.ReadAnswer(0, []byte(stdout))
	Expect(err).NotTo(HaveOccurred(), stdout)
	return request, answer.Reason
}

// requestIn returns the request that is found in a transcript of these lines.
func requestIn(h hook.Host, lines ...string) string {
	GinkgoHelper()
	request, _ := requested(h, stopWith(h, "Done.", write(strings.Join(lines, "\n")), ""))
	return request
}

// stopWith returns the input for a stop with a message, a transcript, and a prompt if there is one.
func stopWith(h hook.Host, message, transcript, prompt string) string {
	GinkgoHelper()
	stdin, err := h.Input(hook.Stop{Session: "s", Transcript: transcript})
	Expect(err).NotTo(HaveOccurred())
	var fields map[string]any
	Expect(json.Unmarshal(stdin, &fields)).To(Succeed())
	fields["last_assistant_message"], fields["prompt"] = message, prompt
	stdin, err = json.Marshal(fields)
	Expect(err).NotTo(HaveOccurred())
	return string(stdin)
}

// user is a line of Claude Code's transcript in the role of the user.
func user(content, more string) string {
	return fmt.Sprintf(`{"type":"user","message":{"role":"user","content":%s}%s}`, content, more)
}

const agentLine = `{"type":"assistant","message":{"id":"m","content":[{"type":"text","text":"Done."}]}}`

var _ = Describe("The request", func() {
	for _, h := range transcribed() {
		It("of the user of "+string(h)+" is found", func() {
			dir := GinkgoT().TempDir()
			s := hook.Stop{Session: "s", Message: deferral("write the tests"), Request: "Build the parser."}
			s.Transcript = filepath.Join(dir, "transcript.jsonl")
			content, err := h.Transcript(s.Request, s.Message)
			Expect(err).NotTo(HaveOccurred())
			Expect(os.WriteFile(s.Transcript, content, 0o600)).To(Succeed())
			stdin, err := h.Input(s)
			Expect(err).NotTo(HaveOccurred())
			request, _ := requested(h, string(stdin))
			Expect(request).To(Equal("Build the parser."))
		})
		It("of the user of "+string(h)+" stays after a follow-up of the guard", func() {
			first, err := h.Transcript("Build the parser.", deferral("write the tests"))
			Expect(err).NotTo(HaveOccurred())
			_, reason := requested(h, stopWith(h, deferral("write the tests"), write(string(first)), ""))
			Expect(reason).NotTo(BeEmpty())
			second, err := h.Transcript(reason, "Done.")
			Expect(err).NotTo(HaveOccurred())
			both := write(string(first) + string(second))
			request, _ := requested(h, stopWith(h, "Done.", both, reason))
			Expect(request).To(Equal("Build the parser."))
		})
	}

	It("in the input is preferred to the transcript", func() {
		content, err := hook.Gemini.Transcript("Old.", "Done.")
		Expect(err).NotTo(HaveOccurred())
		stdin, err := hook.Gemini.Input(hook.Stop{Session: "s", Message: "Done.", Request: "New.", Transcript: write(string(content))})
		Expect(err).NotTo(HaveOccurred())
		request, _ := requested(hook.Gemini, string(stdin))
		Expect(request).To(Equal("New."))
	})

	DescribeTable("is unknown",
		func(h hook.Host, transcript func() string) {
			request, _ := requested(h, stopWith(h, "Done.", transcript(), ""))
			Expect(request).To(BeEmpty())
		},
		Entry("without a transcript", hook.Claude, func() string { return "" }),
		Entry("if the host has none", hook.OpenHands, func() string { return "" }),
		Entry("in a transcript that is missing", hook.Codex, func() string { return "/missing/transcript.jsonl" }),
		Entry("in an empty one", hook.Codex, func() string { return write("") }),
		Entry("in a folder", hook.Claude, func() string { return GinkgoT().TempDir() }),
		Entry("in binary data", hook.Claude, func() string { return write(strings.Repeat("\x00\xff{\n", 50_000)) }),
		Entry("if only its host wrote to the agent", hook.Claude, func() string {
			return write(user(`"<system-reminder>Be brief.</system-reminder>"`, ""))
		}),
		Entry("further back than 16 MB", hook.Claude, func() string {
			return write(user(`"Build it."`, "") + "\n" + strings.Repeat(agentLine+"\n", 17<<20/len(agentLine)))
		}),
	)

	DescribeTable("is the last message that a person wrote",
		func(h hook.Host, want string, lines ...string) { Expect(requestIn(h, lines...)).To(Equal(want)) },
		Entry("Claude Code: not a tool's result", hook.Claude, "Build it.",
			user(`"Old."`, ""), user(`"Build it."`, ""), user(`[{"type":"tool_result","content":"ok"}]`, ""), agentLine),
		Entry("Claude Code: in blocks", hook.Claude, "Build\n\nit.",
			user(`[{"type":"text","text":"Build"},{"type":"image","source":{}},{"type":"text","text":"it."}]`, "")),
		Entry("Claude Code: neither what is marked as meta nor the summary of a compaction", hook.Claude, "Build it.",
			user(`"Build it."`, ""), user(`"Base directory for this skill: x"`, `,"isMeta":true`), user(`"The user asked …"`, `,"isCompactSummary":true`)),
		Entry("Claude Code: not a subagent's task", hook.Claude, "Build it.", user(`"Build it."`, ""), user(`"Look."`, `,"isSidechain":true`)),
		Entry("Claude Code: not the feedback of a hook", hook.Claude, "Build it.",
			user(`"Build it."`, ""), user(`"Stop hook feedback:\nlint fails"`, "")),
		Entry("Claude Code: not an interruption, a background task, or output of a local command", hook.Claude, "Build it.",
			user(`"Build it."`, ""), user(`"[Request interrupted by user for tool use]"`, ""),
			user(`"<task-notification>\n<status>completed</status></task-notification>"`, ""),
			user(`"<local-command-stdout>ok</local-command-stdout>"`, ""), user(`"<bash-input>ls</bash-input><bash-stdout></bash-stdout>"`, "")),
		Entry("Claude Code: without what the host adds", hook.Claude, "Build it.\n\nNow.",
			user(`"<ide_opened_file>The user opened a.go.</ide_opened_file>Build it.\n\n<system-reminder>Be brief.</system-reminder>Now."`, "")),
		Entry("Claude Code: a slash command with its arguments", hook.Claude, "/review the parser",
			user(`"<command-message>review is running</command-message>\n<command-name>/review</command-name>\n<command-args>the parser</command-args>"`, "")),
		Entry("Claude Code: with elements of the user's own", hook.Claude, "<skills>a</skills> <skill",
			user(`"<skills>a</skills> <skill"`, "")),
		Entry("Claude Code: even one that quotes the transcript", hook.Claude, `Why is "type":"tool_result" here?`,
			user(`"Why is \"type\":\"tool_result\" here?"`, "")),
		Entry("Codex: neither the environment nor the instructions of a project", hook.Codex, "Build it.",
			`{"type":"event_msg","payload":{"type":"user_message","message":"Build it."}}`,
			`{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"# AGENTS.md instructions for /p\n\n<INSTRUCTIONS>x</INSTRUCTIONS>"}]}}`,
			`{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"<environment_context>\n<cwd>/p</cwd></environment_context>"}]}}`,
			`{"type":"response_item","payload":{"type":"message","role":"developer","content":[{"type":"input_text","text":"x"}]}}`),
		Entry("Codex: not the prompt of a hook", hook.Codex, "Build it.",
			`{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Build it."}]}}`,
			`{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"<hook_prompt hook_run_id=\"1\">lint fails</hook_prompt>"}]}}`),
		Entry("Codex: without the context of an editor", hook.Codex, "Build it.",
			`{"type":"event_msg","payload":{"type":"user_message","message":"# Context from my IDE setup:\n\n## Open tabs:\n- a.go\n\n## My request for Codex:\nBuild it.\n"}}`),
		Entry("Copilot CLI: not a message of a skill, the autopilot or a subagent's caller", hook.Copilot, "Build it.",
			`{"type":"user.message","data":{"content":"Build it.","transformedContent":"<now>x</now> Build it."}}`,
			`{"type":"user.message","data":{"content":"a","source":"skill-pdf"}}`,
			`{"type":"user.message","data":{"content":"b","isAutopilotContinuation":true}}`,
			`{"type":"user.message","agentId":"1","data":{"content":"c"}}`),
		Entry("Cursor: within its element", hook.Cursor, "Build it.",
			`{"role":"user","message":{"content":[{"type":"text","text":"<timestamp>x</timestamp>\n<user_query>\nBuild it.\n</user_query>"}]}}`),
		Entry("Gemini CLI: one document", hook.Gemini, "Build it.",
			`{"messages":[{"type":"user","content":"Old."},{"type":"user","content":[{"text":"Build it."}]},{"type":"gemini","content":"Done."}]}`),
		Entry("Gemini CLI: a line that sets the messages", hook.Gemini, "Build it.",
			`{"kind":"main"}`, `{"$set":{"messages":[{"type":"user","content":"Build it."},{"type":"gemini","content":"Done."}]}}`, `{"$set":{"lastUpdated":"x"}}`),
		Entry("Qwen Code: not a tool's result", hook.Qwen, "Build it.",
			`{"type":"user","message":{"role":"user","parts":[{"text":"Build it."}]}}`,
			`{"type":"tool_result","message":{"role":"user","parts":[{"functionResponse":{}}]}}`),
		Entry("a message without an envelope", hook.Cursor, "Build it.", `{"role":"user","content":"Build it."}`),
		Entry("among lines that are torn, empty, of another type or no JSON", hook.Claude, "Build it.",
			user(`"Build it."`, ""), "", "null", "[1]", `{"type":7}`, `{"type":"user","message":{"content":"Bui`, "\x00\xff"),
		Entry("far behind its end", hook.Claude, "Build it.",
			user(`"Build it."`, ""), strings.Repeat(user(`[{"type":"tool_result","content":"ok"}]`, "")+"\n", 20_000)),
	)

	It("is its last 64 KiB if it is longer", func() {
		request := requestIn(hook.Claude, user(`"`+strings.Repeat("é", 200_000)+` Build it."`, ""))
		Expect(request).To(HaveSuffix("é Build it."))
		Expect(len(request)).To(And(BeNumerically("<=", 64<<10), BeNumerically(">", 63<<10)))
	})

	It("of a subagent is the task that it was given", func() {
		stdin := fmt.Sprintf(`{"hook_event_name":"SubagentStop","session_id":"s","agent_id":"a","transcript_path":%q,"agent_transcript_path":%q,"last_assistant_message":"Done."}`,
			write(user(`"Build it."`, "")), write(user(`"Look for callers."`, `,"isSidechain":true`)))
		request, _ := requested(hook.Claude, stdin)
		Expect(request).To(Equal("Look for callers."))
	})
})
