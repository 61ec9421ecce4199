//go:build unix

package cli_test

import (
	"bytes"
	"context"
	"errors"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/llm/cli"
)

var _ = Describe("a session", func() {
	// words asks an agent that says its own arguments.
	words := func(ctx context.Context, id string, cfg cli.Config, session *llm.Session) (string, error) {
		cfg.Command = []string{"sh", "-c", `printf '{"type":"item.completed","item":{"type":"agent_message","text":"%s"}}\n{"type":"turn.completed"}\n' "$*"`, "sh"}
		adapter, err := cli.New(id, cfg)
		if err != nil {
			return "", err
		}
		reply, err := adapter.Complete(ctx, llm.Request{Session: session, Messages: []llm.Message{{Role: llm.User, Content: "Go."}}})
		return reply.Text, err
	}

	It("is continued by its id, before the prompt", func(ctx SpecContext) {
		args, err := words(ctx, "codex", cli.Config{ExtraArgs: []string{"--ephemeral"}}, &llm.Session{ID: "th1"})
		Expect(err).NotTo(HaveOccurred())
		Expect(args).To(HaveSuffix("--ephemeral resume th1 -"))
	})
	It("is a new one otherwise", func(ctx SpecContext) {
		args, err := words(ctx, "codex", cli.Config{}, nil)
		Expect(err).NotTo(HaveOccurred())
		Expect(args).NotTo(ContainSubstring("resume"))
	})
	DescribeTable("that cannot be continued is refused before anything is started",
		func(ctx SpecContext, id, session, says string) {
			_, err := words(ctx, id, cli.Config{}, &llm.Session{ID: session})
			Expect(err).To(MatchError(ContainSubstring(says)))
			Expect(llm.KindOf(err)).To(Equal(llm.InvalidRequest))
		},
		Entry("an agent that takes no id", "exec", "g1", "exec has no argument for a session"),
		Entry("what is a flag", "codex", "--last", `"--last" is not a session id`),
		Entry("a NUL", "claude", "a\x00b", "is not a session id"),
	)
	DescribeTable("reports its id at once, and each whole message to the user",
		func(ctx SpecContext, id string, stdout, session string, messages []string) {
			var ids, texts []string
			adapter, err := cli.New(id, cli.Config{
				Command:   replayer(stdout, "", 0),
				OnMessage: func(text string) { texts = append(texts, text) },
			})
			Expect(err).NotTo(HaveOccurred())
			reply, err := adapter.Complete(ctx, llm.Request{
				OnSession: func(id string) { ids = append(ids, id) },
				Messages:  []llm.Message{{Role: llm.User, Content: "Go."}},
			})
			Expect(err).NotTo(HaveOccurred())
			Expect(reply.Session).To(HaveField("ID", session))
			Expect(ids).To(Equal([]string{session}))
			Expect(texts).To(Equal(messages))
		},
		Entry("Claude Code", "claude", lines(claudeInit, claudeTool, claudeQuota, claudeSub, claudeText, claudeResult), "s1", []string{"I look first.", "Done."}),
		Entry("Codex", "codex", lines(codexStart, codexTurn, codexNote, codexCmd, codexFinal, codexDone), "th1", []string{"I run the tests.", "All green."}),
		Entry("Gemini CLI", "gemini", lines(geminiInit, geminiSaid, geminiResult), "g1", nil),
	)

	DescribeTable("that the program does not have fails the call with a kind of its own",
		func(ctx SpecContext, id, stdout, stderr string) {
			adapter, err := cli.New(id, cli.Config{Command: replayer(stdout, stderr, 1)})
			Expect(err).NotTo(HaveOccurred())
			_, err = adapter.Complete(ctx, llm.Request{
				Session: &llm.Session{ID: "gone"}, Messages: []llm.Message{{Role: llm.User, Content: "Go."}},
			})
			Expect(llm.KindOf(err)).To(Equal(llm.NoSession), "%v", err)
		},
		Entry("Claude Code 2.1.197", "claude", lines(`{"type":"result","subtype":"error_during_execution","is_error":true,"num_turns":0,`+
			`"session_id":"gone","total_cost_usd":0,"errors":["No conversation found with session ID: gone"]}`),
			"No conversation found with session ID: gone\n"),
		Entry("Codex 0.169.0", "codex", "",
			"Error: thread/resume: thread/resume failed: no rollout found for thread id gone (code -32600)\n"),
	)

	It("is charged for the call alone where the program reports totals", func(ctx SpecContext) {
		adapter, err := cli.New("codex", cli.Config{Command: replayer(lines(codexStart, codexFinal, codexDone), "", 0)})
		Expect(err).NotTo(HaveOccurred())
		prompt := []llm.Message{{Role: llm.User, Content: "Go."}}
		first, err := adapter.Complete(ctx, llm.Request{Messages: prompt})
		Expect(err).NotTo(HaveOccurred())
		Expect(first.Session.Total).To(Equal(first.Usage))
		before := *first.Session
		before.Total = &llm.Usage{Input: first.Usage.Input - 5, CachedInput: first.Usage.CachedInput, Output: first.Usage.Output - 1}
		second, err := adapter.Complete(ctx, llm.Request{Messages: prompt, Session: &before})
		Expect(err).NotTo(HaveOccurred())
		Expect(*second.Usage).To(And(HaveField("Input", 5), HaveField("CachedInput", 0), HaveField("Output", 1)))
		Expect(second.Session.Total).To(Equal(first.Usage), "the program's own total")
		before.ID = "another"
		third, err := adapter.Complete(ctx, llm.Request{Messages: prompt, Session: &before})
		Expect(err).NotTo(HaveOccurred())
		Expect(third.Usage).To(Equal(first.Usage), "of another session than the continued one")
	})
})

var _ = Describe("a program's surroundings", func() {
	run := func(ctx context.Context, cfg cli.Config, command string) (string, error) {
		cfg.Command = []string{"sh", "-c", command}
		adapter, err := cli.New("exec", cfg)
		Expect(err).NotTo(HaveOccurred())
		reply, err := adapter.Complete(ctx, llm.Request{Messages: []llm.Message{{Role: llm.User, Content: "Go."}}})
		return reply.Text, err
	}
	It("are closed on demand", func(ctx SpecContext) {
		GinkgoT().Setenv("CLI_TEST_OURS", "secret")
		open, err := run(ctx, cli.Config{Env: []string{"OWN=1"}}, "env")
		Expect(err).NotTo(HaveOccurred())
		Expect(open).To(And(ContainSubstring("CLI_TEST_OURS=secret"), ContainSubstring("OWN=1")))
		closed, err := run(ctx, cli.Config{Env: []string{"OWN=1", "PATH=/usr/bin:/bin"}, Closed: true}, "env")
		Expect(err).NotTo(HaveOccurred())
		names := []string{}
		for line := range strings.Lines(closed) {
			name, _, _ := strings.Cut(line, "=")
			names = append(names, name)
		}
		Expect(names).To(ContainElements("OWN", "PATH"))
		Expect(names).NotTo(ContainElements("CLI_TEST_OURS", "HOME"))
	})
	It("get a copy of standard error", func(ctx SpecContext) {
		var log bytes.Buffer
		_, err := run(ctx, cli.Config{Log: &log}, "echo note >&2; echo fine")
		Expect(err).NotTo(HaveOccurred())
		Expect(log.String()).To(Equal("note\n"))
	})
	It("are reported when a signal ends it, and when it floods", func(ctx SpecContext) {
		_, err := run(ctx, cli.Config{}, "kill -9 $$")
		Expect(errors.Is(err, cli.ErrKilled)).To(BeTrue(), "%v", err)
		_, err = run(ctx, cli.Config{MaxOutput: 10}, "echo more than ten bytes")
		Expect(errors.Is(err, cli.ErrFlood)).To(BeTrue(), "%v", err)
	})
})
