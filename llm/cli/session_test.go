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
	words := func(ctx context.Context, id string, cfg cli.Config) (string, error) {
		cfg.Command = []string{"sh", "-c", `printf '{"type":"item.completed","item":{"type":"agent_message","text":"%s"}}\n{"type":"turn.completed"}\n' "$*"`, "sh"}
		adapter, err := cli.New(id, cfg)
		if err != nil {
			return "", err
		}
		reply, err := adapter.Complete(ctx, llm.Request{Messages: []llm.Message{{Role: llm.User, Content: "Go."}}})
		return reply.Text, err
	}

	It("is continued by its id, before the prompt", func(ctx SpecContext) {
		args, err := words(ctx, "codex", cli.Config{Session: "th1", ExtraArgs: []string{"--ephemeral"}})
		Expect(err).NotTo(HaveOccurred())
		Expect(args).To(HaveSuffix("--ephemeral resume th1 -"))
	})
	It("is a new one otherwise", func(ctx SpecContext) {
		args, err := words(ctx, "codex", cli.Config{})
		Expect(err).NotTo(HaveOccurred())
		Expect(args).NotTo(ContainSubstring("resume"))
	})
	DescribeTable("that cannot be continued is refused before anything is started",
		func(id, session, says string) {
			_, err := cli.New(id, cli.Config{Session: session, Command: []string{"sh"}})
			Expect(err).To(MatchError(ContainSubstring(says)))
		},
		Entry("an agent that takes no id", "gemini", "g1", "gemini has no argument for a session"),
		Entry("what is a flag", "codex", "--last", `"--last" is not a session id`),
		Entry("a NUL", "claude", "a\x00b", "is not a session id"),
	)
	DescribeTable("reports its id at once, and each message to the user",
		func(ctx SpecContext, id string, stdout, session string, messages []string) {
			var ids, texts []string
			adapter, err := cli.New(id, cli.Config{
				Command:   replayer(stdout, "", 0),
				OnSession: func(id string) { ids = append(ids, id) },
				OnMessage: func(text string) { texts = append(texts, text) },
			})
			Expect(err).NotTo(HaveOccurred())
			_, err = adapter.Complete(ctx, llm.Request{Messages: []llm.Message{{Role: llm.User, Content: "Go."}}})
			Expect(err).NotTo(HaveOccurred())
			Expect(ids).To(Equal([]string{session}))
			Expect(texts).To(Equal(messages))
		},
		Entry("Claude Code", "claude", lines(claudeInit, claudeTool, claudeQuota, claudeSub, claudeText, claudeResult), "s1", []string{"I look first.", "Done."}),
		Entry("Codex", "codex", lines(codexStart, codexTurn, codexNote, codexCmd, codexFinal, codexDone), "th1", []string{"I run the tests.", "All green."}),
	)
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
