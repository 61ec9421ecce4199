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
})
