package cli_test

import (
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/llm/cli"
)

var _ = Describe("the limits of a call", Label("L-03"), func() {
	prompt := []llm.Message{{Role: llm.User, Content: "Go."}}
	// forever prints lines and then hangs.
	forever := func(lines ...string) []string {
		return []string{"sh", "-c", "cat <<'EOF'\n" + strings.Join(lines, "\n") + "\nEOF\nsleep 600"}
	}
	ask := func(ctx SpecContext, id string, cfg cli.Config, req llm.Request) (llm.Reply, error) {
		GinkgoHelper()
		adapter, err := cli.New(id, cfg)
		Expect(err).NotTo(HaveOccurred())
		req.Messages = prompt
		return adapter.Complete(ctx, req)
	}

	It("are arguments of claude, which reports that it reached one", func(ctx SpecContext) {
		echo := []string{"sh", "-c", `printf '{"type":"result","subtype":"success","result":"%s"}' "$*"`, "sh"}
		reply, err := ask(ctx, "claude", cli.Config{Command: echo}, llm.Request{MaxTurns: 7, MaxUSD: 0.25})
		Expect(err).NotTo(HaveOccurred())
		Expect(reply.Text).To(HaveSuffix("--max-turns 7 --max-budget-usd 0.25"))
		reply, err = ask(ctx, "claude", cli.Config{Command: echo, ExtraArgs: []string{"--max-turns=3"}}, llm.Request{MaxTurns: 7})
		Expect(err).NotTo(HaveOccurred())
		Expect(reply.Text).To(And(ContainSubstring("--max-turns=3"), Not(ContainSubstring("--max-turns 7"))))

		for subtype, finish := range map[string]llm.FinishReason{"error_max_turns": llm.FinishTurns, "error_max_budget_usd": llm.FinishCost} {
			reply, err = ask(ctx, "claude", cli.Config{Command: replayer(lines(claudeInit, claudeText,
				`{"type":"result","subtype":"`+subtype+`","is_error":true,"total_cost_usd":0.3,"usage":{"input_tokens":5},"errors":["Reached it"]}`), "", 1)},
				llm.Request{MaxTurns: 7})
			Expect(err).NotTo(HaveOccurred())
			Expect(reply).To(And(HaveField("Finish", finish), HaveField("Text", "Done."), HaveField("Usage.Input", 5)))
			Expect(*reply.ReportedUSD).To(Equal(0.3))
		}
	})

	It("count the tool calls of a program without such an argument, and stop it", func(ctx SpecContext) {
		events := []string{codexStart, `{"type":"item.completed","item":{"type":"agent_message","text":"I look."}}`}
		for i := range 5 {
			events = append(events, fmt.Sprintf(`{"type":"item.started","item":{"id":"i%d","type":"command_execution","command":"ls"}}`, i))
		}
		reply, err := ask(ctx, "codex", cli.Config{Command: forever(events...)}, llm.Request{MaxTurns: 4})
		Expect(err).NotTo(HaveOccurred())
		Expect(reply).To(And(HaveField("Finish", llm.FinishTurns), HaveField("Text", "I look."), HaveField("Usage", BeNil()),
			HaveField("Session.ID", "th1")))
	})

	It("stop an agent that repeats a denied tool, and list the denials", func(ctx SpecContext) {
		events := []string{claudeInit}
		for i := range 3 {
			events = append(events,
				fmt.Sprintf(`{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t%d","name":"Write","input":{"file_path":"/etc/x"}}]}}`, i),
				fmt.Sprintf(`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t%d","is_error":true,`+
					`"content":"Claude requested permissions to write to /etc/x, but you haven't granted it yet."}]}}`, i))
		}
		reply, err := ask(ctx, "claude", cli.Config{Command: forever(events...)}, llm.Request{DenialLimit: 3})
		Expect(err).NotTo(HaveOccurred())
		Expect(reply.Finish).To(Equal(llm.FinishDenials))
		Expect(reply.Denials).To(HaveLen(3))
		Expect(reply.Denials[0].String()).To(Equal("Write (/etc/x)"))
	})

	It("do not count a denial twice, or an error of another kind", func(ctx SpecContext) {
		denied := `{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t1","is_error":true,` +
			`"content":"Claude requested permissions to write to a, but you haven't granted it yet."}]}}`
		failed := `{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t2","is_error":true,` +
			`"content":"Exit code 1\\nPermission to use Bash has been denied"}]}}`
		reply, err := ask(ctx, "claude", cli.Config{Command: replayer(lines(claudeInit, denied, denied, failed,
			`{"type":"result","subtype":"success","result":"Done.","permission_denials":[{"tool_name":"Write","tool_use_id":"t1","tool_input":{"file_path":"a"}}]}`),
			"", 0)}, llm.Request{DenialLimit: 2})
		Expect(err).NotTo(HaveOccurred())
		Expect(reply.Finish).To(Equal(llm.FinishStop))
		Expect(reply.Denials).To(Equal([]llm.Denial{{Tool: "Write", Detail: "a"}}))
	})

	Describe("stop an agent whose tool calls fail", func() {
		const ok, failed = true, false
		claude := func(id int, good bool) string {
			return fmt.Sprintf(`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t%d","is_error":%t,"content":"x"}]}}`, id, !good)
		}
		codex := func(id int, good bool) string {
			status := map[bool]string{ok: "completed", failed: "failed"}[good]
			return fmt.Sprintf(`{"type":"item.completed","item":{"id":"t%d","type":"command_execution","command":"x","exit_code":1,"status":%q}}`, id, status)
		}
		copilot := func(id int, good bool) string {
			return fmt.Sprintf(`{"type":"tool.execution_complete","data":{"toolCallId":"t%d","success":%t,"error":{"code":"failure","message":"x"}}}`, id, good)
		}
		opencode := func(id int, good bool) string {
			status := map[bool]string{ok: "completed", failed: "error"}[good]
			return fmt.Sprintf(`{"type":"tool_use","sessionID":"s","part":{"callID":"t%d","tool":"bash","state":{"status":%q,"error":"x"}}}`, id, status)
		}
		gemini := func(id int, good bool) string {
			status := map[bool]string{ok: "success", failed: "error"}[good]
			return fmt.Sprintf(`{"type":"tool_result","tool_id":"t%d","status":%q}`, id, status)
		}
		DescribeTable("in a row", func(ctx SpecContext, id string, event func(id int, good bool) string) {
			finish := func(results ...bool) llm.FinishReason {
				GinkgoHelper()
				var events []string
				for i, good := range results {
					events = append(events, event(i, good))
				}
				reply, err := ask(ctx, id, cli.Config{Command: forever(events...)}, llm.Request{FailureLimit: 3, MaxTurns: 100})
				Expect(err).NotTo(HaveOccurred())
				return reply.Finish
			}
			Expect(finish(failed, failed, failed)).To(Equal(llm.FinishFailures))
			Expect(finish(failed, failed, ok, failed, failed, failed)).To(Equal(llm.FinishFailures))
			_, err := ask(ctx, id, cli.Config{Command: replayer(lines(event(1, failed), event(2, failed), event(3, ok), event(4, failed), event(5, failed)), "", 0)},
				llm.Request{FailureLimit: 3})
			Expect(llm.KindOf(err)).To(Equal(llm.Truncated), "it is not stopped")
		},
			Entry("claude", "claude", claude), Entry("codex", "codex", codex), Entry("copilot", "copilot", copilot),
			Entry("opencode", "opencode", opencode), Entry("gemini", "gemini", gemini), Entry("qwen", "qwen", claude),
		)
	})
})
