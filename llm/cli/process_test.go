//go:build unix

package cli_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/llm/cli"
)

// recorder is a command line that stores its arguments (NUL-separated), its
// standard input and its group in the working folder.
var recorder = []string{"sh", "-c", `printf '%s\0' "$@" > argv; cat > stdin`, "agent"}

// members lists the living processes of a group. A killed one whose new parent
// has not reaped it yet is dead already, so a signal sent to it would not tell.
func members(pgid int) (states []string) {
	GinkgoHelper()
	table, err := exec.Command("ps", "-A", "-o", "pgid=,stat=,args=").Output()
	Expect(err).NotTo(HaveOccurred())
	for line := range strings.Lines(string(table)) {
		group, state, _ := strings.Cut(strings.TrimSpace(line), " ")
		if group == strconv.Itoa(pgid) && !strings.HasPrefix(strings.TrimSpace(state), "Z") {
			states = append(states, state)
		}
	}
	return states
}

func user(text string) llm.Request {
	return llm.Request{Messages: []llm.Message{{Role: llm.User, Content: text}}}
}

// invocation runs the agent under a recorder and returns what it was given.
func invocation(ctx context.Context, id string, cfg cli.Config, req llm.Request) (argv []string, stdin string) {
	cfg.Dir, cfg.Command = GinkgoT().TempDir(), recorder
	adapter, err := cli.New(id, cfg)
	Expect(err).NotTo(HaveOccurred())
	_, err = adapter.Complete(ctx, req)
	Expect(llm.KindOf(err)).To(Equal(llm.Malformed), "the recorder prints nothing")
	raw, err := os.ReadFile(filepath.Join(cfg.Dir, "argv"))
	Expect(err).NotTo(HaveOccurred())
	in, err := os.ReadFile(filepath.Join(cfg.Dir, "stdin"))
	Expect(err).NotTo(HaveOccurred())
	return strings.Split(strings.TrimSuffix(string(raw), "\x00"), "\x00"), string(in)
}

func shell(cfg cli.Config, script string) llm.Adapter {
	GinkgoHelper()
	cfg.Command = []string{"sh", "-c", script}
	adapter, err := cli.New("exec", cfg)
	Expect(err).NotTo(HaveOccurred())
	return adapter
}

var _ = Describe("the invocation", Label("L-02"), func() {
	words := strings.Fields
	DescribeTable("is exact",
		func(ctx SpecContext, id string, cfg cli.Config, req llm.Request, wantArgv []string, wantStdin string) {
			argv, stdin := invocation(ctx, id, cfg, req)
			Expect(argv).To(Equal(wantArgv))
			Expect(stdin).To(Equal(wantStdin))
		},
		Entry("claude", "claude", cli.Config{Model: "opus"}, user("Fix it."),
			words("--print --output-format stream-json --verbose --permission-mode acceptEdits --allowedTools=Bash --model opus"), "Fix it."),
		Entry("claude with system text", "claude", cli.Config{ExtraArgs: words("--max-turns 3")},
			llm.Request{Messages: []llm.Message{{Role: llm.System, Content: "Be brief."}, {Role: llm.User, Content: "Fix it."}}},
			append(words("--print --output-format stream-json --verbose --permission-mode acceptEdits --allowedTools=Bash --max-turns 3 --append-system-prompt"), "Be brief."), "Fix it."),
		Entry("codex", "codex", cli.Config{}, user("Fix it."),
			words("exec --json --skip-git-repo-check --sandbox workspace-write -"), "Fix it."),
		Entry("codex with an own sandbox", "codex", cli.Config{ExtraArgs: words("--sandbox=read-only")}, user("Fix it."),
			words("exec --json --skip-git-repo-check --sandbox=read-only -"), "Fix it."),
		Entry("gemini", "gemini", cli.Config{}, user("Go."),
			words("--output-format stream-json --approval-mode=auto_edit --allowed-tools=run_shell_command -p Go."), ""),
		Entry("copilot", "copilot", cli.Config{}, llm.Request{Model: "gpt-5", Messages: user("Go.").Messages},
			words("-s --output-format json --no-ask-user --allow-all-tools --model gpt-5 -p Go."), ""),
		Entry("copilot with a long prompt", "copilot", cli.Config{PromptLimit: 3}, user("Fix it."),
			words("-s --output-format json --no-ask-user --allow-all-tools"), "Fix it."),
		Entry("opencode", "opencode", cli.Config{Model: "openai/gpt-5"}, user("Go."), words("run --format json --model openai/gpt-5"), "Go."),
		Entry("qwen", "qwen", cli.Config{}, llm.Request{Messages: []llm.Message{{Role: llm.System, Content: "Brief."}, {Role: llm.User, Content: "Go."}}},
			words("--output-format stream-json --approval-mode=auto-edit --allowed-tools=run_shell_command --append-system-prompt Brief."), "Go."),
		Entry("a prompt that looks like a flag", "gemini", cli.Config{}, user("--version"),
			words("--output-format stream-json --approval-mode=auto_edit --allowed-tools=run_shell_command"), "--version"),
		Entry("a prompt with NUL", "copilot", cli.Config{}, user("a\x00b"),
			words("-s --output-format json --no-ask-user --allow-all-tools"), "a\x00b"),
		Entry("a conversation", "codex", cli.Config{},
			llm.Request{JSONMode: true, Messages: []llm.Message{
				{Role: llm.System, Content: "Be brief."},
				{Role: llm.User, Content: "Fix it."},
				{Role: llm.Assistant, ToolCalls: []llm.ToolCall{{ID: "c1", Name: "run", Arguments: "{}"}}},
				{Role: llm.ToolRole, ToolCallID: "c1", Content: "ok"},
				{Role: llm.User, Content: "Go on."},
			}},
			words("exec --json --skip-git-repo-check --sandbox workspace-write -"),
			"Be brief.\n\nUser:\nFix it.\n\nAssistant:\n[calls run (c1) with {}]\n\nTool result (c1):\nok\n\nUser:\nGo on."+
				"\n\nAnswer with one JSON object and nothing else."),
	)

	It("passes a prompt of a megabyte", func(ctx SpecContext) {
		prompt := strings.Repeat("0123456789abcde\n", 1<<16)
		_, stdin := invocation(ctx, "copilot", cli.Config{}, user(prompt))
		Expect(stdin).To(Equal(prompt))
	})

	It("survives an agent that never reads its prompt", func(ctx SpecContext) {
		reply, err := shell(cli.Config{}, "echo fine").Complete(ctx, user(strings.Repeat("x", 1<<20)))
		Expect(err).NotTo(HaveOccurred())
		Expect(reply.Text).To(Equal("fine"))
	})

	It("fills the user's own command line", func(ctx SpecContext) {
		adapter, err := cli.New("exec", cli.Config{Command: []string{"sh", "-c", `printf '%s;' "$1"; cat "$2"; ls "$2"`, "x", "<{prompt}>", "{prompt_file}"}})
		Expect(err).NotTo(HaveOccurred())
		reply, err := adapter.Complete(ctx, user("say {prompt_file}\n"))
		Expect(err).NotTo(HaveOccurred())
		shown := strings.Split(reply.Text, "\n")
		Expect(shown[0]).To(Equal("<say {prompt_file}"))
		Expect(shown[1]).To(Equal(">;say {prompt_file}"))
		Expect(shown[2]).To(ContainSubstring("rehearse-prompt-"))
		Expect(shown[2]).NotTo(BeAnExistingFile())
	})

	DescribeTable("is refused where it cannot be made",
		func(ctx SpecContext, cfg cli.Config, req llm.Request, want string) {
			adapter, err := cli.New("exec", cfg)
			Expect(err).NotTo(HaveOccurred())
			_, err = adapter.Complete(ctx, req)
			Expect(llm.KindOf(err)).To(Equal(llm.InvalidRequest))
			Expect(err).To(MatchError(ContainSubstring(want)))
		},
		Entry("no command", cli.Config{}, user("x"), "configure the program"),
		Entry("no messages", cli.Config{Command: recorder}, llm.Request{}, "no messages"),
		Entry("tools", cli.Config{Command: recorder}, llm.Request{Tools: []llm.Tool{{Name: "f"}}}, "own tools"),
		Entry("too long for its place", cli.Config{Command: []string{"echo", "{prompt}"}, PromptLimit: 2}, user("long"), "{prompt_file}"),
	)
})

var _ = Describe("an adapter", Label("L-02"), func() {
	It("is known by its id, copilot first", func() {
		Expect(cli.IDs()).To(Equal([]string{"copilot", "claude", "codex", "gemini", "opencode", "qwen", "exec"}))
		for _, id := range cli.IDs() {
			adapter, err := cli.New(id, cli.Config{})
			Expect(err).NotTo(HaveOccurred())
			Expect(adapter.ID()).To(Equal(id))
		}
		_, err := cli.New("kopilot", cli.Config{})
		Expect(err).To(MatchError(ContainSubstring("copilot, claude, codex, gemini, opencode, qwen, exec")))
	})

	DescribeTable("refuses an impossible configuration",
		func(cfg cli.Config, want string) {
			_, err := cli.New("claude", cfg)
			Expect(err).To(MatchError(ContainSubstring(want)))
		},
		Entry("prompt limit", cli.Config{PromptLimit: 1 << 20}, "prompt limit 1048576"),
		Entry("output limit", cli.Config{MaxOutput: -1}, "-1"),
		Entry("grace", cli.Config{Grace: -time.Second}, "-1s"),
		Entry("environment", cli.Config{Env: []string{"A=b", "secretvalue"}}, "entry 2"),
	)

	It("reports a missing program without starting anything", func(ctx SpecContext) {
		GinkgoT().Setenv("PATH", GinkgoT().TempDir())
		for _, id := range cli.IDs()[:6] {
			adapter, err := cli.New(id, cli.Config{})
			Expect(err).NotTo(HaveOccurred())
			Expect(adapter.Available(ctx)).To(MatchError(And(ContainSubstring(id), ContainSubstring("npm install -g"))))
			_, err = adapter.Complete(ctx, user("x"))
			Expect(llm.KindOf(err)).To(Equal(llm.Unavailable))
		}
		adapter, err := cli.New("exec", cli.Config{})
		Expect(err).NotTo(HaveOccurred())
		Expect(adapter.Available(ctx)).To(MatchError(ContainSubstring("no command")))
		adapter, err = cli.New("exec", cli.Config{Command: []string{"/no/such/agent"}})
		Expect(err).NotTo(HaveOccurred())
		Expect(adapter.Available(ctx)).To(MatchError(ContainSubstring("/no/such/agent")))
	})

	It("is available where its program is", func(ctx SpecContext) {
		Expect(shell(cli.Config{}, "").Available(ctx)).To(Succeed())
	})

	It("does not show secrets of the environment", func(ctx SpecContext) {
		adapter := shell(cli.Config{Env: []string{"MY_API_KEY=hunter2hunter2", "COLOUR=purple"}}, `echo "$MY_API_KEY $COLOUR" >&2; exit 1`)
		_, err := adapter.Complete(ctx, user("x"))
		Expect(err).To(MatchError(And(ContainSubstring("[MY_API_KEY] purple"), Not(ContainSubstring("hunter2")))))
	})
})

var _ = Describe("a process", Label("L-04"), func() {
	// groupOf reads the group that the script stored, once it has.
	groupOf := func(dir string) func() (int, error) {
		return func() (int, error) {
			raw, err := os.ReadFile(filepath.Join(dir, "pid"))
			if err != nil {
				return 0, err
			}
			return strconv.Atoi(strings.TrimSpace(string(raw)))
		}
	}
	gone := func(pgid int) {
		GinkgoHelper()
		Eventually(func() []string { return members(pgid) }).Should(BeEmpty())
	}
	storePID := "echo $$ > pid.new && mv pid.new pid; "

	DescribeTable("is stopped with everything it started when the context ends",
		func(ctx SpecContext, script string) {
			dir := GinkgoT().TempDir()
			adapter := shell(cli.Config{Dir: dir, Grace: 100 * time.Millisecond}, "echo half; "+storePID+script)
			called, cancel := context.WithCancelCause(ctx)
			stop := errors.New("enough")
			done := make(chan error, 1)
			go func() {
				defer GinkgoRecover()
				_, err := adapter.Complete(called, user("x"))
				done <- err
			}()
			var pgid int
			Eventually(func() (err error) { pgid, err = groupOf(dir)(); return err }).Should(Succeed())
			cancel(stop)
			var err error
			Eventually(done).Should(Receive(&err))
			Expect(err).To(MatchError(stop))
			Expect(llm.KindOf(err)).To(BeEmpty())
			gone(pgid)
		},
		Entry("one that hangs", "exec sleep 60"),
		Entry("one that ignores SIGTERM", "trap '' TERM; sleep 60; sleep 60"),
		Entry("one whose child holds the pipes", "sleep 60 & exec sleep 60"),
		Entry("one that has closed its output", "exec >&- 2>&-; sleep 60"),
	)

	It("turns a deadline into a timeout and keeps the text", func(ctx SpecContext) {
		short, cancel := context.WithTimeout(ctx, 300*time.Millisecond)
		defer cancel()
		_, err := shell(cli.Config{}, "echo half; exec sleep 60").Complete(short, user("x"))
		Expect(err).To(MatchError(context.DeadlineExceeded))
		var failure *llm.Error
		Expect(errors.As(err, &failure)).To(BeTrue())
		Expect(failure.Kind).To(Equal(llm.Timeout))
		Expect(failure.Partial).To(Equal("half"))
	})

	It("may tidy up before it goes", func(ctx SpecContext) {
		dir := GinkgoT().TempDir()
		called, cancel := context.WithCancel(ctx)
		go func() {
			defer GinkgoRecover()
			Eventually(func() string { return filepath.Join(dir, "pid") }).Should(BeAnExistingFile())
			cancel()
		}()
		_, err := shell(cli.Config{Dir: dir}, "trap 'echo bye > tidied; exit 0' TERM; "+storePID+"while :; do sleep 0.01; done").Complete(called, user("x"))
		Expect(err).To(MatchError(context.Canceled))
		Expect(filepath.Join(dir, "tidied")).To(BeAnExistingFile())
	})

	It("is not started for a context that has ended", func(ctx SpecContext) {
		ended, cancel := context.WithCancel(ctx)
		cancel()
		_, err := shell(cli.Config{}, "echo no").Complete(ended, user("x"))
		Expect(err).To(MatchError(context.Canceled))
	})

	It("leaves no grandchild behind when it ends well", func(ctx SpecContext) {
		dir := GinkgoT().TempDir()
		reply, err := shell(cli.Config{Dir: dir}, storePID+"sleep 60 & echo done").Complete(ctx, user("x"))
		Expect(err).NotTo(HaveOccurred())
		Expect(reply.Text).To(Equal("done"))
		pgid, err := groupOf(dir)()
		Expect(err).NotTo(HaveOccurred())
		gone(pgid)
	})

	It("does not wait for ever for one that left the group", func(ctx SpecContext) {
		dir := GinkgoT().TempDir()
		script := "setsid sh -c 'echo $$ > pid; exec sleep 60' & until test -s pid; do :; done; echo done"
		reply, err := shell(cli.Config{Dir: dir, Grace: 50 * time.Millisecond}, script).Complete(ctx, user("x"))
		Expect(err).NotTo(HaveOccurred())
		Expect(reply.Text).To(Equal("done"))
		pid, err := groupOf(dir)()
		Expect(err).NotTo(HaveOccurred())
		Expect(syscall.Kill(pid, syscall.SIGKILL)).To(Succeed())
	})

	It("is cut off when it floods its output", func(ctx SpecContext) {
		dir := GinkgoT().TempDir()
		_, err := shell(cli.Config{Dir: dir, MaxOutput: 1 << 20}, storePID+"exec yes").Complete(ctx, user("x"))
		Expect(llm.KindOf(err)).To(Equal(llm.Malformed))
		Expect(err).To(MatchError(ContainSubstring("more than 1048576 bytes")))
		pgid, err := groupOf(dir)()
		Expect(err).NotTo(HaveOccurred())
		gone(pgid)
	})

	It("that a signal ends is truncated", func(ctx SpecContext) {
		_, err := shell(cli.Config{}, "echo half; kill -9 $$").Complete(ctx, user("x"))
		Expect(llm.KindOf(err)).To(Equal(llm.Truncated))
	})

	It("that does not end after its final event has answered all the same", func(ctx SpecContext) {
		dir := GinkgoT().TempDir()
		adapter, err := cli.New("claude", cli.Config{
			Dir: dir, Grace: 50 * time.Millisecond,
			Command: []string{"sh", "-c", storePID + `cat >/dev/null; echo "$0"; exec sleep 60`, claudeResult},
		})
		Expect(err).NotTo(HaveOccurred())
		reply, err := adapter.Complete(ctx, user("x"))
		Expect(err).NotTo(HaveOccurred())
		Expect(reply.Text).To(Equal("Done."))
		pgid, err := groupOf(dir)()
		Expect(err).NotTo(HaveOccurred())
		gone(pgid)
	})
})
