package hook_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/stop/hook"
)

// transcribed returns the hosts with a transcript.
func transcribed() []hook.Host {
	return []hook.Host{hook.Claude, hook.Codex, hook.Gemini, hook.Qwen, hook.Copilot, hook.Cursor}
}

// write puts a transcript into a file.
func write(content string) string {
	GinkgoHelper()
	file := filepath.Join(GinkgoT().TempDir(), "transcript.jsonl")
	Expect(os.WriteFile(file, []byte(content), 0o600)).To(Succeed())
	return file
}

// lookup lets the guard find the last message in a transcript: it refuses exactly
// the stop whose message ends in the work that is announced.
func lookup(h hook.Host, transcript string) (work, stderr string) {
	GinkgoHelper()
	answer, stderr := newGuard().stop(h, hook.Stop{Session: "s", Transcript: transcript})
	_, steps, _ := strings.Cut(answer.Reason, "1. ")
	work, _, _ = strings.Cut(steps, "\n")
	work = strings.Trim(work, `"`)
	return work, stderr
}

// unreadable returns a transcript that cannot be read, and why.
func unreadable(path func(dir string) string, says string) {
	GinkgoHelper()
	dir := GinkgoT().TempDir()
	answer, stderr := newGuard().stop(hook.Copilot, hook.Stop{Session: "s", Transcript: path(dir)})
	Expect(answer.Blocked).To(BeFalse())
	Expect(stderr).To(And(ContainSubstring("may stop unjudged: open the transcript"), ContainSubstring(says)))
	Expect(stderr).NotTo(ContainSubstring(dir), "a host may name anything")
}

var _ = Describe("The transcript", func() {
	for _, h := range transcribed() {
		It("of "+string(h)+" has the message that the input lacks", func() {
			content, err := h.Transcript("", deferral("write the tests"))
			Expect(err).NotTo(HaveOccurred())
			work, stderr := lookup(h, write(string(content)))
			Expect(work).To(Equal("write the tests"), stderr)
		})
		It("of "+string(h)+" is read from its end, whatever its length", func() {
			long := strings.Repeat("Is “this” read? ", 30_000) // half a megabyte in one line
			content, err := h.Transcript("", long+"\n\n"+deferral("write the tests"))
			Expect(err).NotTo(HaveOccurred())
			before := strings.Repeat(`{"type":"summary","summary":"an older part"}`+"\n", 5000)
			work, stderr := lookup(h, write(before+string(content)))
			Expect(work).To(Equal("write the tests"), stderr)
		})
	}

	DescribeTable("in all its forms",
		func(h hook.Host, want string, lines ...string) {
			work, stderr := lookup(h, write(strings.Join(lines, "\n")))
			Expect(work).To(Equal(want))
			if want == "" {
				Expect(stderr).To(ContainSubstring("no message of the agent after the last request or tool call"))
			}
		},
		Entry("Claude Code: a message on a line for each block", hook.Claude, "b.",
			`{"type":"assistant","message":{"id":"m1","content":[{"type":"text","text":"Next I will a."}]}}`,
			`{"type":"assistant","message":{"id":"m2","content":[{"type":"thinking","thinking":"Hm."}]}}`,
			`{"type":"assistant","message":{"id":"m2","content":[{"type":"text","text":"Done."}]}}`,
			`{"type":"assistant","message":{"id":"m2","content":[{"type":"text","text":"Next I will b.."}]}}`,
			`{"type":"system","subtype":"stop_hook_summary"}`,
		),
		Entry("Claude Code: the first block of the last message counts, the message before it does not", hook.Claude, "b Done",
			`{"type":"assistant","message":{"id":"m1","content":[{"type":"text","text":"Next I will a."}]}}`,
			`{"type":"assistant","message":{"id":"m2","content":[{"type":"text","text":"Next I will b"}]}}`,
			`{"type":"assistant","message":{"id":"m2","content":[{"type":"text","text":"Done."}]}}`,
		),
		Entry("Claude Code: not a phrase from before the last request", hook.Claude, "",
			`{"type":"assistant","message":{"id":"m1","content":[{"type":"text","text":"Next I will a."}]}}`,
			`{"type":"user","message":{"role":"user","content":"Thanks."}}`,
		),
		Entry("Claude Code: not words before a tool call", hook.Claude, "",
			`{"type":"assistant","message":{"id":"m1","content":[{"type":"text","text":"Next I will a."}]}}`,
			`{"type":"assistant","message":{"id":"m1","content":[{"type":"tool_use","name":"Bash","input":{}}]}}`,
			`{"type":"user","message":{"role":"user","content":[{"type":"tool_result","content":"ok"}]}}`,
		),
		Entry("Claude Code: not words with a tool call that has no result yet", hook.Claude, "",
			`{"type":"assistant","message":{"id":"m1","content":[{"type":"text","text":"Next I will a."},{"type":"tool_use","name":"Bash","input":{}}]}}`,
		),
		Entry("Claude Code: not a subagent's words, nor those of an API error", hook.Claude, "",
			`{"type":"assistant","message":{"content":[{"type":"text","text":"Next I will a."}]}}`,
			`{"type":"assistant","isApiErrorMessage":true,"message":{"content":[{"type":"text","text":"Next I will b."}]}}`,
			`{"type":"assistant","isSidechain":true,"message":{"content":[{"type":"text","text":"Next I will c."}]}}`,
		),
		Entry("Codex: an event", hook.Codex, "a",
			`{"type":"response_item","payload":{"type":"function_call_output","output":"ok"}}`,
			`{"type":"event_msg","payload":{"type":"agent_message","message":"Next I will a."}}`,
			`{"type":"event_msg","payload":{"type":"token_count","info":{}}}`,
		),
		Entry("Codex: the end of the turn", hook.Codex, "a",
			`{"type":"event_msg","payload":{"type":"task_complete","last_agent_message":"Next I will a."}}`,
		),
		Entry("Codex: not words before a tool call", hook.Codex, "",
			`{"type":"event_msg","payload":{"type":"agent_message","message":"Next I will a."}}`,
			`{"type":"response_item","payload":{"type":"function_call","name":"shell"}}`,
		),
		Entry("Codex: not words before a request", hook.Codex, "",
			`{"type":"event_msg","payload":{"type":"agent_message","message":"Next I will a."}}`,
			`{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Go on."}]}}`,
		),
		Entry("Copilot CLI: the words of the call that ends the task", hook.Copilot, "a",
			`{"type":"user.message","data":{"content":"x"}}`,
			`{"type":"assistant.message","data":{"content":"","toolRequests":[{"name":"task_complete","arguments":{"summary":"Next I will a."}}]}}`,
			`{"type":"tool.execution_complete","data":{"success":true}}`,
		),
		Entry("Copilot CLI: the same, in a string", hook.Copilot, "a",
			`{"type":"assistant.message","data":{"content":"","toolRequests":[{"name":"task_complete","arguments":"{\"summary\":\"Next I will a.\"}"}]}}`,
		),
		Entry("Copilot CLI: not words with a tool call", hook.Copilot, "",
			`{"type":"assistant.message","data":{"content":"Next I will a.","toolRequests":[{"name":"bash","arguments":{}}]}}`,
			`{"type":"tool.execution_complete","data":{"success":true}}`,
		),
		Entry("Gemini CLI: one document", hook.Gemini, "a",
			"{\n \"sessionId\": \"s\",\n \"messages\": [", `  {"type":"user","content":"x"},`,
			`  {"type":"gemini","content":"Next I will a."},`, `  {"type":"info","content":"Saved."}`, " ]\n}",
		),
		Entry("Gemini CLI: one document in one line", hook.Gemini, "a",
			`{"messages":[{"type":"user","content":"x"},{"type":"gemini","content":[{"text":"Next I will a."}]}]}`,
		),
		Entry("Gemini CLI: a line that sets the messages", hook.Gemini, "a",
			`{"sessionId":"s","kind":"main"}`,
			`{"$set":{"messages":[{"type":"user","content":"x"},{"type":"gemini","content":"Next I will a."}]}}`,
			`{"$set":{"lastUpdated":"2026-09-19T10:00:00Z"}}`,
		),
		Entry("Gemini CLI: not words with a tool call", hook.Gemini, "",
			`{"type":"gemini","content":"Next I will a.","toolCalls":[{"name":"read_file"}]}`,
		),
		Entry("Qwen Code: not words before a tool call", hook.Qwen, "",
			`{"type":"assistant","message":{"role":"model","parts":[{"text":"Next I will a."},{"functionCall":{"name":"x"}}]}}`,
			`{"type":"tool_result","message":{"role":"user","parts":[{"functionResponse":{}}]}}`,
		),
		Entry("Qwen Code: not its thoughts", hook.Qwen, "b",
			`{"type":"assistant","message":{"role":"model","parts":[{"text":"Next I will a.","thought":true},{"text":"Next I will b."}]}}`,
		),
		Entry("Copilot CLI: not words before the last request", hook.Copilot, "",
			`{"type":"assistant.message","data":{"content":"Next I will a."}}`,
			`{"type":"user.message","data":{"content":"Thanks."}}`,
		),
		Entry("Qwen Code: not words with a tool call that has no result yet", hook.Qwen, "",
			`{"type":"assistant","message":{"role":"model","parts":[{"text":"Next I will a."},{"functionCall":{"name":"x"}}]}}`,
		),
		Entry("Cursor: with a string, in Windows' line ends", hook.Cursor, "a",
			"{\"role\":\"user\",\"message\":{\"content\":\"x\"}}\r", "{\"role\":\"assistant\",\"message\":{\"content\":\"Next I will a.\"}}\r\n\r\n",
		),
		Entry("a message without an envelope", hook.Cursor, "a", `{"role":"assistant","content":"Next I will a."}`),
		Entry("lines that are torn, empty, of another type or no JSON", hook.Claude, "a",
			`{"role":"assistant","content":"Next I will a."}`, ``, `null`, `[1,2]`, `{"type":7}`, `{"type":"assistant","mess`, "\x00\xff",
		),
	)

	It("is not read if the input has the message", func() {
		content, err := hook.Claude.Transcript("", deferral("write the tests"))
		Expect(err).NotTo(HaveOccurred())
		answer, _ := newGuard().stop(hook.Claude, hook.Stop{Session: "s", Message: finished, Transcript: write(string(content))})
		Expect(answer.Blocked).To(BeFalse())
	})

	DescribeTable("that cannot be read lets the agent stop", unreadable,
		Entry("missing", func(dir string) string { return filepath.Join(dir, "none.jsonl") }, "no such file"),
		Entry("a folder", func(dir string) string { return dir }, "not a regular file"),
		Entry("not absolute", func(string) string { return "suite_test.go" }, "not absolute"),
		Entry("with a NUL", func(dir string) string { return dir + "/a\x00b" }, "invalid argument"),
		Entry("a link", func(dir string) string {
			link := filepath.Join(dir, "link")
			Expect(os.Symlink(write(`{"role":"assistant","content":"Next I will a."}`), link)).To(Succeed())
			return link
		}, "not a regular file"),
	)

	It("in the user's home folder is found by ~", func() {
		home := GinkgoT().TempDir()
		GinkgoT().Setenv("HOME", home)
		content := `{"role":"assistant","content":"Next I will a."}`
		Expect(os.WriteFile(filepath.Join(home, "t.jsonl"), []byte(content), 0o600)).To(Succeed())
		work, stderr := lookup(hook.Claude, "~/t.jsonl")
		Expect(work).To(Equal("a"), stderr)
	})

	It("of a subagent is that of the subagent", func() {
		g := newGuard()
		g.Subagents = true
		line := func(s string) string {
			data, err := json.Marshal(map[string]string{"role": "assistant", "content": s})
			Expect(err).NotTo(HaveOccurred())
			return string(data)
		}
		stdin := fmt.Sprintf(`{"hook_event_name":"SubagentStop","session_id":"s","agent_id":"a","transcript_path":%q,"agent_transcript_path":%q}`,
			write(line(finished)), write(line(deferral("write the tests"))))
		stdout, stderr := g.call(stdin)
		Expect(stdout).To(ContainSubstring("1. \\\"write the tests\\\""), stderr)
	})
})
