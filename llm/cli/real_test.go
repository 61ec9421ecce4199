package cli_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/internal/quantity"
	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/llm/cli"
	"github.com/rehearse-dev/rehearse/mocks"
)

// The adapters with the real programs, which REHEARSE_CLAUDE and REHEARSE_CODEX name, or
// which are in PATH. They call a scripted backend on loopback.
var _ = Describe("the real program", func() {
	for _, agent := range []string{"claude", "codex"} {
		Describe(agent, func() {
			var program string
			BeforeEach(func() { program = realProgram(agent) })

			It("answers, reports its session and usage, and continues the session", func(ctx SpecContext) {
				s := newReal(agent, program, mocks.Script{Replies: []mocks.Line{
					replyLine("I look first.", toolOf(agent)), replyLine("The answer is 42."), replyLine("Still 42."),
				}})
				reply, err := s.ask(ctx, "What is the answer?")
				Expect(err).NotTo(HaveOccurred())
				Expect(reply.Text).To(Equal("The answer is 42."))
				Expect(reply.Finish).To(Equal(llm.FinishStop))
				Expect(*reply.Usage).To(Equal(llm.Usage{Input: 200, Output: 20, Source: llm.UsageReported}), "of two calls")
				Expect(reply.Retries).To(BeEmpty())
				Expect(s.messages).To(Equal([]string{"I look first.", "The answer is 42."}))
				Expect(os.ReadFile(filepath.Join(s.cfg.Dir, "out.txt"))).To(Equal([]byte("hi\n")))
				Expect(reply.Session).To(HaveField("ID", s.begun))
				if agent == "claude" { // codex names neither model nor cost
					Expect(reply.Model).To(Equal("claude-sonnet-4-5"))
					Expect(*reply.ReportedUSD).To(BeNumerically(">", 0))
				}

				s.session, s.begun = reply.Session, ""
				again, err := s.ask(ctx, "Are you sure?")
				Expect(err).NotTo(HaveOccurred())
				Expect(again.Text).To(Equal("Still 42."))
				Expect(s.begun).To(Equal(s.session.ID))
				Expect(again.Session).To(HaveField("ID", s.session.ID))
				Expect(again.Usage.Input).To(Equal(100), "of this call, though codex adds up the whole session")
				Expect(s.last()).To(ContainElements("What is the answer?", "The answer is 42.", "Are you sure?"))
			})

			It("reports a session that it does not have", func(ctx SpecContext) {
				s := newReal(agent, program, mocks.Script{Replies: []mocks.Line{replyLine("Never asked for.")}})
				s.session = &llm.Session{ID: "01900000-0000-4000-8000-000000000000"}
				_, err := s.ask(ctx, "Are you sure?")
				Expect(llm.KindOf(err)).To(Equal(llm.NoSession), "%v", err)
				Expect(s.seen.last).To(BeEmpty(), "no model is called")
			})

			It("edits files with the default access, and is denied that with read-only access", func(ctx SpecContext) {
				script := mocks.Script{Replies: []mocks.Line{replyLine("", editOf(agent)), replyLine("It is written.")}}
				s := newReal(agent, program, script)
				s.access("")
				if !s.sandboxStarts(ctx) {
					return
				}
				reply, err := s.ask(ctx, "Write out.txt.")
				Expect(err).NotTo(HaveOccurred())
				Expect(os.ReadFile(filepath.Join(s.cfg.Dir, "out.txt"))).To(Equal([]byte("hi\n")))
				Expect(reply.Denials).To(BeEmpty())
				Expect(s.tools).To(HaveLen(1))

				s = newReal(agent, program, script)
				s.access(cli.ReadOnly)
				reply, err = s.ask(ctx, "Write out.txt.")
				Expect(err).NotTo(HaveOccurred())
				Expect(reply.Text).To(Equal("It is written."), "which is not so")
				Expect(filepath.Join(s.cfg.Dir, "out.txt")).NotTo(BeAnExistingFile())
				Expect(reply.Denials).To(HaveLen(1))
			})

			It("reports its retry", func(ctx SpecContext) {
				line := replyLine("At last.")
				line.Fault = &mocks.Fault{Kind: "status", Status: 429, RetryAfter: quantity.Duration(time.Second)}
				s := newReal(agent, program, mocks.Script{Replies: []mocks.Line{line}})
				reply, err := s.ask(ctx, "Go.")
				Expect(err).NotTo(HaveOccurred())
				Expect(reply.Text).To(Equal("At last."))
				Expect(reply.Retries).To(HaveLen(1))
				Expect(reply.Retries[0].Kind).To(Equal(llm.RateLimited))
			})

			DescribeTable("fails in its own words",
				func(ctx SpecContext, line mocks.Line, claude, codex llm.ErrorKind) {
					s := newReal(agent, program, mocks.Script{Replies: []mocks.Line{line}})
					s.impatient()
					_, err := s.ask(ctx, "Go.")
					failure, ok := errors.AsType[*llm.Error](err)
					Expect(ok).To(BeTrue(), "%v", err)
					Expect(failure.Kind).To(Equal(map[string]llm.ErrorKind{"claude": claude, "codex": codex}[agent]), "%v", failure)
				},
				Entry("a provider that is down", failing(500), llm.Unavailable, llm.Unavailable),
				Entry("a refusal", mocks.Line{Answer: mocks.Answer{Refusal: "No."}}, llm.Refused, llm.Malformed),
			)

			It("is stopped at the deadline", func(ctx SpecContext) {
				line := replyLine("Too late.")
				line.Fault = &mocks.Fault{Kind: "timeout"}
				s := newReal(agent, program, mocks.Script{Replies: []mocks.Line{line}})
				deadline, cancel := context.WithTimeout(ctx, time.Second)
				defer cancel()
				_, err := s.ask(deadline, "Go.")
				Expect(err).To(MatchError(ContainSubstring("no answer before the deadline")))
			})
		})
	}
})

// realProgram finds a program, or skips the spec.
func realProgram(agent string) string {
	path, err := exec.LookPath(cmp.Or(os.Getenv("REHEARSE_"+strings.ToUpper(agent)), agent))
	if err != nil {
		Skip(fmt.Sprintf("the program %s is not on this machine", agent))
	}
	return path
}

func replyLine(text string, calls ...mocks.ScriptedToolCall) mocks.Line {
	return mocks.Line{Answer: mocks.Answer{Text: mocks.Text(text), ToolCalls: calls, Usage: &mocks.ScriptedUsage{Input: 100, Output: 10}}}
}

func failing(status int) mocks.Line {
	return mocks.Line{Times: 9, Answer: mocks.Answer{Fault: &mocks.Fault{Kind: "status", Status: status}}}
}

// toolOf writes a file by a shell command.
func toolOf(agent string) mocks.ScriptedToolCall {
	if agent == "claude" {
		return mocks.ScriptedToolCall{Name: "Bash", Arguments: map[string]any{"command": "echo hi > out.txt", "description": "Greet"}}
	}
	return mocks.ScriptedToolCall{Name: "exec_command", Arguments: map[string]any{"cmd": "echo hi > out.txt"}}
}

// editOf writes a file by the agent's own tool for that.
func editOf(agent string) mocks.ScriptedToolCall {
	if agent == "claude" {
		return mocks.ScriptedToolCall{Name: "Write", Arguments: map[string]any{"file_path": "out.txt", "content": "hi\n"}}
	}
	return mocks.ScriptedToolCall{Name: "exec_command", Arguments: map[string]any{
		"cmd": "apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: out.txt\n+hi\n*** End Patch\nEOF",
	}}
}

// real is a program with a backend, a folder and a home of its own.
type real struct {
	agent    string
	url      string
	cfg      cli.Config
	session  *llm.Session // to continue
	begun    string       // the id that the program reported
	messages []string
	tools    []string
	seen     *requests
}

// requests keeps the texts of the last request.
type requests struct{ last []llm.Message }

// Begin implements mocks.Observer.
func (r *requests) Begin(_ string, req llm.Request) (func(llm.Reply, error), error) {
	r.last = req.Messages
	return func(llm.Reply, error) {}, nil
}

func newReal(agent, program string, script mocks.Script) *real {
	compiled, err := mocks.Compile(script)
	Expect(err).NotTo(HaveOccurred())
	seen := &requests{}
	var server mocks.Server
	Expect(server.Attach("1", mocks.NewEngine(compiled, mocks.EngineOptions{Observer: seen}))).To(Succeed())
	listening := httptest.NewServer(&server)
	DeferCleanup(listening.Close)
	home := GinkgoT().TempDir()
	s := &real{agent: agent, url: listening.URL + "/t/1", seen: seen}
	s.cfg = cli.Config{
		Command: []string{program}, Dir: GinkgoT().TempDir(), Closed: true,
		Env:       []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "CODEX_HOME=" + home, "TMPDIR=" + GinkgoT().TempDir(), "LANG=C.UTF-8"},
		Model:     map[string]string{"claude": "claude-sonnet-4-5", "codex": "gpt-5"}[agent],
		OnMessage: func(text string) { s.messages = append(s.messages, text) },
	}
	if agent == "claude" {
		s.cfg.Env = append(s.cfg.Env, "ANTHROPIC_BASE_URL="+s.url, "ANTHROPIC_API_KEY=works-nowhere",
			"DISABLE_AUTOUPDATER=1", "DISABLE_TELEMETRY=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1")
		return s
	}
	s.cfg.Env = append(s.cfg.Env, "MOCK_KEY=works-nowhere")
	s.codex("")
	return s
}

// codex points codex at the backend.
func (s *real) codex(more string) {
	s.cfg.ExtraArgs = []string{
		"--dangerously-bypass-approvals-and-sandbox", "--disable", "plugins",
		"-c", "analytics.enabled=false", "-c", "check_for_update_on_startup=false", "-c", "model_provider=mock",
		"-c", fmt.Sprintf("model_providers.mock={name=%q,base_url=%q,env_key=%q,wire_api=%q%s}", "mock", s.url+"/v1", "MOCK_KEY", "responses", more),
	}
}

// access takes the place of the flags that let the program do everything.
func (s *real) access(level cli.Access) {
	s.cfg.Access = level
	s.cfg.ExtraArgs = slices.DeleteFunc(s.cfg.ExtraArgs, func(arg string) bool {
		return arg == "--dangerously-bypass-approvals-and-sandbox"
	})
}

// sandboxStarts reports whether the program's own sandbox starts on this machine. If it does not, the error
// must name it.
func (s *real) sandboxStarts(ctx context.Context) bool {
	adapter, err := cli.New(s.agent, s.cfg)
	Expect(err).NotTo(HaveOccurred())
	if err := cli.CheckSandbox(ctx, adapter); err != nil {
		Expect(err).To(MatchError(ContainSubstring("cannot start its own sandbox here")))
		AddReportEntry("without a sandbox", err.Error())
		return false
	}
	return true
}

// impatient keeps the program from trying again.
func (s *real) impatient() {
	if s.agent == "claude" {
		s.cfg.Env = append(s.cfg.Env, "CLAUDE_CODE_MAX_RETRIES=0")
		return
	}
	s.codex(",request_max_retries=0,stream_max_retries=0")
}

func (s *real) ask(ctx context.Context, prompt string) (llm.Reply, error) {
	adapter, err := cli.New(s.agent, s.cfg)
	Expect(err).NotTo(HaveOccurred())
	Expect(adapter.Available(ctx)).To(Succeed())
	return adapter.Complete(ctx, llm.Request{
		Session:   s.session,
		OnSession: func(id string) { s.begun = id },
		Messages:  []llm.Message{{Role: llm.User, Content: prompt}},
		OnActivity: func(tool string) {
			if tool != "" {
				s.tools = append(s.tools, tool)
			}
		},
	})
}

// last are the last lines of the messages of the last request: programs put notes of
// their own before what the user says.
func (s *real) last() []string {
	var texts []string
	for _, m := range s.seen.last {
		text := strings.TrimSpace(m.Content)
		texts = append(texts, text[strings.LastIndexByte(text, '\n')+1:])
	}
	return texts
}
