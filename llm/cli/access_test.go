//go:build unix

package cli_test

import (
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/llm/cli"
)

var _ = Describe("access", Label("L-02"), func() {
	DescribeTable("becomes the program's own flags",
		func(ctx SpecContext, id string, access cli.Access, want string) {
			argv, _ := invocation(ctx, id, cli.Config{Access: access}, user("Go."))
			Expect(strings.Join(argv, " ")).To(ContainSubstring(want))
		},
		Entry("claude by default", "claude", cli.Access(""), "--permission-mode acceptEdits --allowedTools=Bash"),
		Entry("claude, the default by its name", "claude", cli.Workspace, "--permission-mode acceptEdits --allowedTools=Bash"),
		Entry("claude read-only", "claude", cli.ReadOnly, "--permission-mode dontAsk --tools=Read,Glob,Grep --strict-mcp-config"),
		Entry("claude full", "claude", cli.Full, "--permission-mode bypassPermissions"),
		Entry("codex by default", "codex", cli.Access(""), "--sandbox workspace-write"),
		Entry("codex read-only", "codex", cli.ReadOnly, "--sandbox read-only"),
		Entry("codex full", "codex", cli.Full, "--sandbox danger-full-access"),
		Entry("gemini by default", "gemini", cli.Access(""), "--approval-mode=auto_edit --allowed-tools=run_shell_command"),
		Entry("gemini read-only, not in the mode plan, which it leaves by itself", "gemini", cli.ReadOnly, "--approval-mode=default -p"),
		Entry("gemini full", "gemini", cli.Full, "--approval-mode=yolo"),
		Entry("qwen by default", "qwen", cli.Access(""), "--approval-mode=auto-edit --allowed-tools=run_shell_command"),
		Entry("qwen read-only", "qwen", cli.ReadOnly, "stream-json --approval-mode=default"),
		Entry("qwen full", "qwen", cli.Full, "--approval-mode=yolo"),
		Entry("opencode by default", "opencode", cli.Access(""), "run --format json"),
		Entry("opencode full", "opencode", cli.Full, "run --format json --auto"),
		Entry("copilot by default", "copilot", cli.Access(""), "--no-ask-user --allow-all-tools -p"),
		Entry("copilot read-only", "copilot", cli.ReadOnly, "--no-ask-user --deny-tool=write --deny-tool=shell --disable-builtin-mcps -p"),
		Entry("copilot full", "copilot", cli.Full, "--no-ask-user --allow-all-tools --allow-all-paths --allow-all-urls"),
	)

	It("is in the environment of opencode, which has no flags for it", func(ctx SpecContext) {
		for access, want := range map[cli.Access]string{cli.ReadOnly: `"bash":"deny"`, cli.Workspace: "none", cli.Full: "none"} {
			adapter, err := cli.New("opencode", cli.Config{
				Access: access, Command: []string{"sh", "-c", `printf '{"type":"text","part":{"text":"%s"}}\n' "$(echo ${OPENCODE_PERMISSION:-none} | sed 's/"/\\"/g')"
echo '{"type":"step_finish","part":{"reason":"stop"}}'`},
			})
			Expect(err).NotTo(HaveOccurred())
			reply, err := adapter.Complete(ctx, user("Go."))
			Expect(err).NotTo(HaveOccurred())
			Expect(reply.Text).To(ContainSubstring(want))
		}
	})

	DescribeTable("gives way to permission flags of the user",
		func(ctx SpecContext, id, own string) {
			argv, _ := invocation(ctx, id, cli.Config{ExtraArgs: strings.Fields(own)}, user("Go."))
			given := strings.Join(argv, " ")
			Expect(given).To(ContainSubstring(own))
			for _, flag := range []string{"acceptEdits", "workspace-write", "auto_edit", "--allow-all-tools"} {
				Expect(given).NotTo(ContainSubstring(flag))
			}
		},
		Entry("claude", "claude", "--permission-mode dontAsk"),
		Entry("claude, tools", "claude", "--allowedTools=Bash,WebFetch"),
		Entry("codex", "codex", "--sandbox=read-only"),
		Entry("codex, everything", "codex", "--dangerously-bypass-approvals-and-sandbox"),
		Entry("gemini", "gemini", "--yolo"),
		Entry("copilot", "copilot", "--allow-tool=write"),
		Entry("qwen", "qwen", "--approval-mode=plan"),
	)

	DescribeTable("is refused where it cannot be honoured",
		func(id string, cfg cli.Config, want string) {
			cfg.Command = []string{"true"}
			_, err := cli.New(id, cfg)
			Expect(err).To(MatchError(ContainSubstring(want)))
		},
		Entry("unknown", "claude", cli.Config{Access: "all"}, `unknown access "all"; use one of read-only, workspace, full`),
		Entry("a contradiction", "codex", cli.Config{Access: cli.ReadOnly, ExtraArgs: []string{"--sandbox=danger-full-access"}},
			"access \"read-only\" conflicts with the argument --sandbox=danger-full-access"),
		Entry("a program of the user's own", "exec", cli.Config{Access: cli.ReadOnly}, "is not supported for exec"),
	)
})
