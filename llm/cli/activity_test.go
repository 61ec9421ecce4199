//go:build unix

package cli_test

import (
	"context"
	"strconv"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/llm/cli"
)

// watch plays a recorded run and returns the reply, the tool calls in their order and
// how many signs of life there were beside them.
func watch(ctx context.Context, id string, cfg cli.Config, stdout, stderr string) (reply llm.Reply, tools []string, signs int) {
	GinkgoHelper()
	cfg.Command = replayer(stdout, stderr, 0)
	adapter, err := cli.New(id, cfg)
	Expect(err).NotTo(HaveOccurred())
	reply, err = adapter.Complete(ctx, llm.Request{
		Messages: []llm.Message{{Role: llm.User, Content: "Fix it."}},
		OnActivity: func(tool string) {
			if tool == "" {
				signs++
				return
			}
			tools = append(tools, tool)
		},
	})
	Expect(err).NotTo(HaveOccurred())
	return reply, tools, signs
}

// The streams of Claude Code 2.1.197 and Codex 0.169.0 are excerpts of real ones; those
// of Gemini CLI and Copilot CLI follow their documented events.
const (
	claudeSubTool  = `{"type":"assistant","parent_tool_use_id":"t1","message":{"model":"claude-haiku-4-5","content":[{"type":"tool_use","id":"s1","name":"Grep","input":{"pattern":"x"}}]}}`
	claudeWrite    = `{"type":"assistant","parent_tool_use_id":null,"message":{"model":"claude-sonnet-4-5","content":[{"type":"tool_use","id":"toolu_1","name":"Write","input":{"file_path":"out.txt","content":"hi\n"}}]}}`
	claudeRefused  = `{"type":"user","message":{"role":"user","content":[{"type":"tool_result","content":"Claude requested permissions to write to /w/out.txt, but you haven't granted it yet.","is_error":true,"tool_use_id":"toolu_1"}]},"parent_tool_use_id":null}`
	claudeDenied   = `{"type":"result","subtype":"success","is_error":false,"result":"All written.\nDONE","permission_denials":[{"tool_name":"Write","tool_use_id":"toolu_1","tool_input":{"file_path":"/w/out.txt","content":"hi\n"}}]}`
	claudeOff      = `{"type":"user","message":{"role":"user","content":[{"type":"tool_result","content":"<tool_use_error>Error: No such tool available: Write. Write exists but is not enabled in this context. Use one of the available tools instead.</tool_use_error>","is_error":true,"tool_use_id":"toolu_1"}]}}`
	claudeUnknown  = `{"type":"user","message":{"role":"user","content":[{"type":"tool_result","content":"<tool_use_error>Error: No such tool available: Frobnicate</tool_use_error>","is_error":true,"tool_use_id":"toolu_1"}]}}`
	claudeUndenied = `{"type":"result","subtype":"success","is_error":false,"result":"All written.\nDONE","permission_denials":[]}`

	codexShell    = `{"type":"item.started","item":{"id":"item_1","type":"command_execution","command":"/bin/bash -lc 'echo shell > sh.txt'","aggregated_output":"","exit_code":null,"status":"in_progress"}}`
	codexBlocked  = `{"type":"item.completed","item":{"id":"item_1","type":"command_execution","command":"/bin/bash -lc 'echo shell > sh.txt'","aggregated_output":"/bin/bash: line 1: sh.txt: Read-only file system\n","exit_code":1,"status":"failed"}}`
	codexHidden   = `{"type":"item.completed","item":{"id":"item_2","type":"command_execution","command":"/bin/bash -lc 'echo x > /w/o.txt; ls'","aggregated_output":"/bin/bash: line 1: /w/o.txt: Read-only file system\n","exit_code":0,"status":"completed"}}`
	codexPython   = `{"type":"item.completed","item":{"id":"item_3","type":"command_execution","command":"/bin/bash -lc \"python3 w.py\"","aggregated_output":"OSError: [Errno 30] Read-only file system: '/home/agent/z'\n","exit_code":1,"status":"failed"}}`
	codexGrep     = `{"type":"item.completed","item":{"id":"item_4","type":"command_execution","command":"/bin/bash -lc 'grep -r Read-only .'","aggregated_output":"notes.md: touch: Read-only file system\n","exit_code":0,"status":"completed"}}`
	codexCache    = `{"type":"item.completed","item":{"id":"item_5","type":"command_execution","command":"/bin/bash -lc 'go test ./...'","aggregated_output":"open /home/agent/.cache/go-build/1: read-only file system\n","exit_code":1,"status":"failed"}}`
	codexAgain    = `{"type":"item.completed","item":{"id":"item_6","type":"command_execution","command":"/bin/bash -lc 'GOCACHE=/tmp/c go test ./...'","aggregated_output":"ok\n","exit_code":0,"status":"completed"}}`
	codexPatch    = `{"type":"item.started","item":{"id":"item_7","type":"file_change","changes":[{"path":"/w/out.txt","kind":"add"}],"status":"in_progress"}}`
	codexDeclined = `{"type":"item.completed","item":{"id":"item_7","type":"file_change","changes":[{"path":"/w/out.txt","kind":"add"}],"status":"declined"}}`
	codexMCP      = `{"type":"item.completed","item":{"id":"item_8","type":"mcp_tool_call","server":"issues","tool":"list","status":"completed"}}`
	codexSearch   = `{"type":"item.completed","item":{"id":"item_9","type":"web_search","query":"go modules"}}`
	codexThought  = `{"type":"item.completed","item":{"id":"item_a","type":"reasoning","text":"I look."}}`
	codexWarning  = "2026-11-22T11:56:57Z ERROR codex_core::tools::router: error=patch rejected: writing is blocked by read-only sandbox; rejected by user approval settings"

	geminiUse    = `{"type":"tool_use","tool_name":"write_file","tool_id":"w1","parameters":{"file_path":"out.txt"}}`
	geminiSaid   = `{"type":"message","role":"assistant","content":"Done.","delta":true}`
	geminiRefuse = `{"type":"tool_result","tool_id":"w1","status":"error","error":{"type":"policy_violation","message":"Tool execution denied by policy."}}`
	geminiGone   = `{"type":"tool_result","tool_id":"w1","status":"error","output":"x","error":{"type":"tool_not_registered","message":"Tool \"write_file\" not found. Did you mean \"read_file\"?"}}`
	geminiAsk    = `{"type":"tool_result","tool_id":"w1","status":"error","output":"Tool execution for \"WriteFile\" requires user confirmation, which is not supported in non-interactive mode."}`

	opencodeAsked   = `{"type":"tool_use","part":{"tool":"read","callID":"c3","state":{"status":"error","input":{"filePath":"/etc/hostname"},"error":"The user rejected permission to use this specific tool call."}}}`
	opencodeRuled   = `{"type":"tool_use","part":{"tool":"read","callID":"c4","state":{"status":"error","input":{"filePath":"/etc/passwd"},"error":"The user has specified a rule which prevents you from using this specific tool call."}}}`
	opencodeOff     = `{"type":"tool_use","part":{"tool":"invalid","callID":"c5","state":{"status":"completed","input":{"tool":"bash","error":"Model tried to call unavailable tool 'bash'."}}}}`
	opencodeFailing = `{"type":"tool_use","part":{"tool":"read","callID":"c6","state":{"status":"error","input":{"filePath":"none"},"error":"File not found"}}}`

	qwenDenied = `{"type":"result","subtype":"success","is_error":false,"result":"Done.","permission_denials":[{"tool_name":"write_file","tool_use_id":"c1","tool_input":{"file_path":"/w/out.txt"}}]}`

	copilotStart  = `{"type":"tool.execution_start","data":{"toolCallId":"c1","toolName":"edit","arguments":{"path":"out.txt"}}}`
	copilotDenied = `{"type":"tool.execution_complete","data":{"toolCallId":"c1","success":false,"error":{"message":"Permission denied and could not request permission from user","code":"denied"}}}`
	copilotFailed = `{"type":"tool.execution_complete","data":{"toolCallId":"c1","success":false,"error":{"message":"no such file","code":"failure"}}}`
)

var _ = Describe("what an agent does beside talking", Label("P-07"), func() {
	DescribeTable("is seen as tool calls, each once, and signs of life",
		func(ctx SpecContext, id, stdout, want string, atLeast int) {
			_, tools, signs := watch(ctx, id, cli.Config{}, stdout, "")
			Expect(strings.Join(tools, " ")).To(Equal(want))
			Expect(signs).To(BeNumerically(">=", atLeast))
		},
		Entry("claude, with a sub-agent", "claude", lines(claudeInit, claudeTool, claudeQuota, claudeSubTool, claudeSub, claudeText, claudeResult), "Bash Grep", 7),
		Entry("claude, told twice", "claude", lines(claudeWrite, claudeWrite, claudeText, claudeResult), "Write", 4),
		Entry("codex", "codex", lines(codexStart, codexTurn, codexThought, codexShell, codexBlocked, codexPatch, codexMCP, codexSearch, codexFinal, codexDone),
			"command_execution file_change issues.list web_search", 10),
		Entry("gemini", "gemini", lines(geminiInit, geminiUse, geminiRefuse, geminiSaid, geminiResult), "write_file", 5),
		Entry("copilot, asked for and begun", "copilot",
			lines(copilotMessage("m1", "", `{"toolCallId":"c1","name":"edit","arguments":{}}`), copilotStart, copilotFailed,
				copilotMessage("m2", "", `{"toolCallId":"c2","name":"task_complete","arguments":{"summary":"Done."}}`), copilotResult), "edit", 5),
		Entry("opencode", "opencode", lines(opencodeBash, opencodeOff, opencodeText, opencodeStop), "bash bash", 4),
		Entry("a program of the user's own", "exec", "working\ndone\n", "", 2),
	)

	It("counts 1,500 calls", func(ctx SpecContext) {
		var all []string
		for i := range 1500 {
			all = append(all, strings.Replace(claudeWrite, "toolu_1", "toolu_"+strconv.Itoa(i), 1))
		}
		_, tools, _ := watch(ctx, "claude", cli.Config{}, lines(append(all, claudeText, claudeResult)...), "")
		Expect(tools).To(HaveLen(1500))
	})
})

var _ = Describe("a tool call that permissions refuse", Label("L-02"), func() {
	DescribeTable("is in the reply",
		func(ctx SpecContext, id, stdout, stderr string, want ...llm.Denial) {
			reply, _, _ := watch(ctx, id, cli.Config{}, stdout, stderr)
			Expect(reply.Denials).To(Equal(want))
		},
		Entry("claude: asked for and not granted", "claude", lines(claudeInit, claudeWrite, claudeRefused, claudeDenied), "",
			llm.Denial{Tool: "Write", Detail: "/w/out.txt"}),
		Entry("claude: of a tool that is switched off", "claude", lines(claudeInit, claudeWrite, claudeOff, claudeUndenied), "",
			llm.Denial{Tool: "Write", Detail: "the tool is switched off"}),
		Entry("codex: by its sandbox", "codex", lines(codexShell, codexBlocked, codexFinal, codexDone), "",
			llm.Denial{Tool: "command_execution", Detail: "echo shell > sh.txt"}),
		Entry("codex: by its sandbox, behind an exit status of 0", "codex", lines(codexHidden, codexFinal, codexDone), "",
			llm.Denial{Tool: "command_execution", Detail: "echo x > /w/o.txt; ls"}),
		Entry("codex: of a program of any language", "codex", lines(codexPython, codexFinal, codexDone), "",
			llm.Denial{Tool: "command_execution", Detail: "python3 w.py"}),
		Entry("codex: declined", "codex", lines(codexPatch, codexDeclined, codexFinal, codexDone), "",
			llm.Denial{Tool: "file_change", Detail: "/w/out.txt"}),
		Entry("codex: a patch, of which only standard error tells", "codex", lines(codexFinal, codexDone), codexWarning,
			llm.Denial{Tool: "apply_patch", Detail: "writing is blocked by read-only sandbox"}),
		Entry("gemini: by its policy", "gemini", lines(geminiInit, geminiUse, geminiRefuse, geminiSaid, geminiResult), "",
			llm.Denial{Tool: "write_file", Detail: "Tool execution denied by policy."}),
		Entry("gemini: as the tool was removed", "gemini", lines(geminiInit, geminiUse, geminiGone, geminiSaid, geminiResult), "",
			llm.Denial{Tool: "write_file", Detail: `Tool "write_file" not found. Did you mean "read_file"?`}),
		Entry("gemini: as nobody can be asked", "gemini", lines(geminiInit, geminiUse, geminiAsk, geminiSaid, geminiResult), "",
			llm.Denial{Tool: "write_file", Detail: `Tool execution for "WriteFile" requires user confirmation, which is not supported in non-interactive mode.`}),
		Entry("copilot", "copilot", lines(copilotStart, copilotDenied, copilotMessage("m2", "Done.", ""), copilotResult), "",
			llm.Denial{Tool: "edit", Detail: "Permission denied and could not request permission from user"}),
		Entry("opencode: nobody could be asked, or a rule", "opencode", lines(opencodeAsked, opencodeRuled, opencodeText, opencodeStop), "",
			llm.Denial{Tool: "read", Detail: "/etc/hostname"}, llm.Denial{Tool: "read", Detail: "/etc/passwd"}),
		Entry("qwen", "qwen", lines(claudeInit, claudeText, qwenDenied), "", llm.Denial{Tool: "write_file", Detail: "/w/out.txt"}),
	)

	It("is a call of a tool that read-only access removes from opencode", func(ctx SpecContext) {
		reply, _, _ := watch(ctx, "opencode", cli.Config{Access: cli.ReadOnly}, lines(opencodeOff, opencodeText, opencodeStop), "")
		Expect(reply.Denials).To(Equal([]llm.Denial{{Tool: "bash", Detail: "the tool is switched off"}}))
	})

	DescribeTable("is distinguished from one that failed, or that was carried out later",
		func(ctx SpecContext, id string, cfg cli.Config, stdout string) {
			reply, _, _ := watch(ctx, id, cfg, stdout, "")
			Expect(reply.Denials).To(BeEmpty())
		},
		Entry("claude: a tool that it does not have", "claude", cli.Config{}, lines(claudeWrite, claudeUnknown, claudeUndenied)),
		Entry("codex: words in the output of a command that went well", "codex", cli.Config{}, lines(codexGrep, codexFinal, codexDone)),
		Entry("codex: the same command, with a cache where it may write", "codex", cli.Config{}, lines(codexCache, codexAgain, codexFinal, codexDone)),
		Entry("codex: without a sandbox the file system itself is read-only", "codex", cli.Config{Access: cli.Full}, lines(codexBlocked, codexFinal, codexDone)),
		Entry("opencode: an error, and a tool that the model does not have", "opencode", cli.Config{}, lines(opencodeFailing, opencodeOff, opencodeText, opencodeStop)),
		Entry("copilot: an error", "copilot", cli.Config{}, lines(copilotStart, copilotFailed, copilotMessage("m2", "Done.", ""), copilotResult)),
	)

	It("is kept up to a limit", func(ctx SpecContext) {
		denials := strings.TrimSuffix(strings.Repeat(`{"tool_name":"Edit","tool_input":{"file_path":"`+strings.Repeat("x", 9000)+`"}},`, 500), ",")
		reply, _, _ := watch(ctx, "claude", cli.Config{}, lines(claudeText,
			`{"type":"result","subtype":"success","is_error":false,"result":"DONE","permission_denials":[`+denials+`]}`), "")
		Expect(reply.Denials).To(HaveLen(llm.MaxDenials))
		Expect(len(reply.Denials[0].Detail)).To(BeNumerically("<", 200))
	})
})
