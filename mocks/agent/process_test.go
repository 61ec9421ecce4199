//go:build unix

package agent_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/internal/quantity"
	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/mocks"
	"github.com/rehearse-dev/rehearse/mocks/agent"
)

// calls are what a user types for each style.
var calls = map[string]string{
	"claude":  "--print --output-format stream-json --verbose",
	"codex":   "exec --json -",
	"gemini":  "--output-format stream-json",
	"copilot": "-s --output-format json",
	"exec":    "",
}

// start runs an agent as any program would be run.
func start(ctx context.Context, s stage, style, stdin string, args ...string) (stdout, stderr string, status int) {
	GinkgoHelper()
	argv, env, err := s.server.Command(style)
	Expect(err).NotTo(HaveOccurred())
	cmd := exec.CommandContext(ctx, argv[0], args...)
	var out, errs bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &out, &errs
	cmd.Env = append(os.Environ(), env...)
	if err := cmd.Run(); err != nil {
		var exit *exec.ExitError
		Expect(errors.As(err, &exit)).To(BeTrue(), "%v", err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

var _ = Describe("the output", Label("H-02"), func() {
	full := func() mocks.Line {
		return mocks.Line{Answer: mocks.Answer{
			Text:      "All tests pass.\nDONE",
			ToolCalls: []mocks.ScriptedToolCall{{Name: "Bash", Arguments: map[string]any{"command": "go test ./..."}}},
			Usage:     &mocks.ScriptedUsage{Input: 100, CachedInput: 900, Output: 50, Reasoning: 20},
			Latency:   &mocks.Latency{First: quantity.Duration(3 * time.Millisecond)},
		}}
	}
	lines := map[string]func() mocks.Line{
		"answer": full,
		"error-in-success": func() mocks.Line {
			l := full()
			l.Fault = &mocks.Fault{Kind: "error-in-success"}
			return l
		},
		"rate-limit": func() mocks.Line {
			return mocks.Line{Answer: mocks.Answer{Fault: &mocks.Fault{Kind: "status", Status: 429, RetryAfter: quantity.Duration(time.Minute)}}}
		},
		"truncated-jsonl": func() mocks.Line {
			l := full()
			l.Fault = &mocks.Fault{Kind: "truncated-jsonl"}
			return l
		},
	}
	for _, style := range styles {
		for _, name := range slices.Sorted(maps.Keys(lines)) {
			line := lines[name]
			It("of "+style+" is that of the golden file for "+name, func(ctx SpecContext) {
				price := func(string, llm.Usage) (float64, bool) { return 0.0125, true }
				s := perform(style, mocks.Script{Model: "model-1", Replies: []mocks.Line{line()}}, agent.Config{Price: price})
				stdout, stderr, status := start(ctx, s, style, "Fix it.", strings.Fields(calls[style])...)
				got := stdout + "--- standard error\n" + stderr + "--- exit status\n" + string(rune('0'+status)) + "\n"
				golden.Expect(style+"-"+name+".golden", []byte(got))
			})
		}
	}
})

var _ = Describe("an invocation", Label("H-02"), func() {
	DescribeTable("that the real program would refuse is refused and reported",
		func(ctx SpecContext, style, args, stdin string, status int, message string) {
			s := perform(style, mocks.Script{Replies: texts("unused")}, agent.Config{})
			stdout, stderr, got := start(ctx, s, style, stdin, strings.Fields(args)...)
			Expect(got).To(Equal(status))
			Expect(stdout).To(BeEmpty())
			Expect(stderr).To(ContainSubstring(message))
			report := s.ended()
			Expect(report.Invalid).To(ConsistOf(ContainSubstring(message)))
			Expect(report.Exchanges[0].Status).To(Equal(status))
		},
		Entry("claude: unknown flag", "claude", calls["claude"]+" --colour", "x", 1, `unexpected argument "--colour"`),
		Entry("claude: --continue takes over a person's session", "claude", calls["claude"]+" --continue", "x", 1, `"--continue"`),
		Entry("claude: stream-json wants --verbose", "claude", "-p --output-format stream-json", "x", 1, "--verbose"),
		Entry("codex: unknown flag", "codex", "exec --json --colour - ", "x", 2, `unexpected argument "--colour"`),
		Entry("codex: no subcommand", "codex", "--json", "x", 2, "subcommand exec"),
		Entry("codex: a flag without its value", "codex", "exec --json --model", "x", 2, `"--model" needs a value`),
		Entry("codex: no prompt", "codex", calls["codex"], " \n", 2, "no prompt"),
		Entry("gemini: plain text", "gemini", "-p x", "", 1, "--output-format stream-json"),
		Entry("copilot: unknown flag", "copilot", calls["copilot"]+" --json", "x", 1, `"--json"`),
	)

	DescribeTable("is understood in the program's own forms",
		func(ctx SpecContext, style, args, stdin string) {
			script := mocks.Script{Replies: texts("DONE")}
			script.Replies[0].When = &mocks.When{User: &mocks.Match{Equals: "fix"}, Model: "big"}
			if style == "exec" { // it knows no models
				script.Replies[0].When = &mocks.When{User: &mocks.Match{Equals: "fix big"}}
			}
			s := perform(style, script, agent.Config{})
			_, stderr, status := start(ctx, s, style, stdin, strings.Fields(args)...)
			Expect(status).To(BeZero(), stderr)
			Expect(s.ended().Unexpected).To(BeEmpty())
		},
		Entry("claude: prompt as an argument", "claude", calls["claude"]+" --model=big fix", ""),
		Entry("claude: prompt after --", "claude", calls["claude"]+" --model big -- fix", ""),
		Entry("codex: prompt as an argument", "codex", "exec -m big --json fix", ""),
		Entry("codex: a session that is continued", "codex", "exec --json -m big resume th1 -", "fix"),
		Entry("codex: prompt on standard input", "codex", "exec -m big --json -", "fix"),
		Entry("gemini", "gemini", "-o stream-json -m big -p fix", ""),
		Entry("copilot", "copilot", "--output-format json --model big --prompt=fix", ""),
		Entry("exec: prompt on standard input", "exec", "--any -x", "fix big"),
		Entry("exec: prompt as arguments", "exec", "fix big", ""),
	)
})

var _ = Describe("the fault grandchild", Label("H-02"), func() {
	It("leaves a process behind that has the outputs open until the server ends", func(ctx SpecContext) {
		line := texts("DONE")[0]
		line.Fault = &mocks.Fault{Kind: "grandchild"}
		s := perform("exec", mocks.Script{Replies: []mocks.Line{line}}, agent.Config{})
		argv, env, err := s.server.Command("exec")
		Expect(err).NotTo(HaveOccurred())
		cmd := exec.CommandContext(ctx, argv[0], "hello")
		cmd.Env = append(os.Environ(), env...)
		out, far, err := os.Pipe()
		Expect(err).NotTo(HaveOccurred())
		defer out.Close()
		cmd.Stdout = far
		Expect(cmd.Start()).To(Succeed())
		Expect(far.Close()).To(Succeed())

		var output bytes.Buffer
		closed := make(chan error, 1)
		go func() {
			_, err := output.ReadFrom(out)
			closed <- err
		}()
		Expect(cmd.Wait()).To(Succeed())
		Eventually(s.server.Living).Should(Equal(1))
		Consistently(closed).WithTimeout(50 * time.Millisecond).ShouldNot(Receive())

		Expect(s.server.Close()).To(Succeed())
		Eventually(closed).Should(Receive())
		Expect(output.String()).To(Equal("DONE\n"))
	})
})

var _ = Describe("the server", func() {
	It("names the styles that it knows", func() {
		s := perform("exec", mocks.Script{Replies: texts("x")}, agent.Config{})
		_, _, err := s.server.Command("kiro")
		Expect(err).To(MatchError(ContainSubstring("claude, codex, copilot, exec, gemini")))
		Expect(s.server.Close()).To(Succeed())
	})

	It("rejects connections without its token", func() {
		s := perform("exec", mocks.Script{Replies: texts("x")}, agent.Config{})
		_, env, err := s.server.Command("exec")
		Expect(err).NotTo(HaveOccurred())
		fields := strings.Split(env[0], "|")
		conn, err := net.Dial(fields[1], fields[2])
		Expect(err).NotTo(HaveOccurred())
		defer conn.Close()
		Expect(json.NewEncoder(conn).Encode(map[string]any{"token": "guessed", "style": "exec", "stdin": "hello"})).To(Succeed())
		_, err = conn.Read(make([]byte, 1))
		Expect(err).To(HaveOccurred())
		Expect(s.ended().Exchanges).To(BeEmpty())
	})

	It("keeps its socket from other users and removes it", func() {
		s := perform("exec", mocks.Script{Replies: texts("x")}, agent.Config{})
		_, env, err := s.server.Command("exec")
		Expect(err).NotTo(HaveOccurred())
		dir := filepath.Dir(strings.Split(env[0], "|")[2])
		info, err := os.Stat(dir)
		Expect(err).NotTo(HaveOccurred())
		Expect(info.Mode().Perm()).To(Equal(os.FileMode(0o700)))
		Expect(s.server.Close()).To(Succeed())
		Expect(dir).NotTo(BeADirectory())
	})

	It("serves over loopback where a path is too long for a socket", func(ctx SpecContext) {
		long := filepath.Join(GinkgoT().TempDir(), strings.Repeat("d", 120))
		Expect(os.Mkdir(long, 0o700)).To(Succeed())
		GinkgoT().Setenv("TMPDIR", long)
		s := perform("codex", mocks.Script{Replies: texts("DONE")}, agent.Config{})
		reply, err := s.ask(ctx, "x")
		Expect(err).NotTo(HaveOccurred())
		Expect(reply.Text).To(Equal("DONE"))
	})

	It("leaves a program without a server with a clear error", func(ctx SpecContext) {
		s := perform("exec", mocks.Script{Replies: texts("x")}, agent.Config{})
		Expect(s.server.Close()).To(Succeed())
		_, stderr, status := start(ctx, s, "exec", "hello")
		Expect(status).To(Equal(96))
		Expect(stderr).To(ContainSubstring("reach the script"))
	})
})

var _ = It("serves no agents in a process that is one itself, so that a program without Main does not start itself for ever", func() {
	GinkgoT().Setenv("REHEARSE_SCRIPTED_AGENT", "exec|unix|nowhere|token")
	program, err := mocks.Compile(mocks.Script{Replies: texts("done")})
	Expect(err).NotTo(HaveOccurred())
	_, err = agent.Serve(mocks.NewEngine(program, mocks.EngineOptions{}), agent.Config{})
	Expect(err).To(MatchError(ContainSubstring("does not call mocks/agent.Main first")))
})

var _ = It("leaves no folder behind, and removes those of killed processes", func() {
	parent := GinkgoT().TempDir()
	GinkgoT().Setenv("TMPDIR", parent)
	left := filepath.Join(parent, "rehearse-agent-1")
	Expect(os.Mkdir(left, 0o700)).To(Succeed())
	Expect(os.WriteFile(filepath.Join(left, ".owner"), nil, 0o600)).To(Succeed())
	program, err := mocks.Compile(mocks.Script{Replies: texts("done")})
	Expect(err).NotTo(HaveOccurred())
	server, err := agent.Serve(mocks.NewEngine(program, mocks.EngineOptions{}), agent.Config{})
	Expect(err).NotTo(HaveOccurred())
	if runtime.GOOS == "linux" || runtime.GOOS == "darwin" {
		Expect(left).NotTo(BeADirectory())
	}
	Expect(os.ReadDir(parent)).NotTo(BeEmpty())
	Expect(server.Close()).To(Succeed())
	Expect(server.Close()).To(Succeed())
	Expect(filepath.Glob(filepath.Join(parent, "rehearse-agent-[!1]*"))).To(BeEmpty())
})
