//go:build unix

package agent_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	. "github.com/onsi/gomega/gstruct"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/internal/quantity"
	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/llm/cli"
	"github.com/rehearse-dev/rehearse/mocks"
	"github.com/rehearse-dev/rehearse/mocks/agent"
)

// stage is a scripted agent and the real adapter that drives it.
type stage struct {
	engine  *mocks.Engine
	server  *agent.Server
	adapter llm.Adapter
}

// grace is short, as only faulty agents use it up.
const grace = 150 * time.Millisecond

func perform(style string, script mocks.Script, cfg agent.Config, inject ...mocks.Injection) stage {
	GinkgoHelper()
	program, err := mocks.Compile(script)
	Expect(err).NotTo(HaveOccurred())
	engine := mocks.NewEngine(program, mocks.EngineOptions{
		Seed: 7, Count: func(_, text string) int { return len(strings.Fields(text)) }, Inject: inject,
	})
	server, err := agent.Serve(engine, cfg)
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() {
		Expect(server.Close()).To(Succeed())
		Expect(server.Living()).To(BeZero())
	})
	argv, env, err := server.Command(style)
	Expect(err).NotTo(HaveOccurred())
	adapter, err := cli.New(style, cli.Config{Command: argv, Env: env, Grace: grace, MaxOutput: 1 << 20})
	Expect(err).NotTo(HaveOccurred())
	return stage{engine, server, adapter}
}

func (s stage) ask(ctx context.Context, text string) (llm.Reply, error) {
	return s.adapter.Complete(ctx, llm.Request{Messages: []llm.Message{{Role: llm.User, Content: text}}})
}

// ended waits until every process is gone, and returns what the engine saw.
func (s stage) ended() mocks.Report {
	GinkgoHelper()
	Eventually(s.server.Living).Should(BeZero(), "a process was left behind")
	return s.engine.Report()
}

func texts(answers ...string) []mocks.Line {
	lines := make([]mocks.Line, len(answers))
	for i, text := range answers {
		lines[i].Text = mocks.Text(text)
	}
	return lines
}

var styles = []string{"claude", "codex", "gemini", "copilot", "exec"}

// eachStyle runs the same body for all styles, named in the report.
func eachStyle(body func(style string)) {
	for _, style := range styles {
		Context("as "+style, func() { body(style) })
	}
}

var _ = Describe("a scripted agent driven by the real adapter", Label("L-02", "H-02"), func() {
	eachStyle(func(style string) {
		It("answers one invocation after the other", func(ctx SpecContext) {
			s := perform(style, mocks.Script{Model: "gpt-5", Replies: texts("I look\nat it.", "Fixed.\nDONE", "Nothing to do.\nDONE")}, agent.Config{})
			for _, want := range []string{"I look\nat it.", "Fixed.\nDONE", "Nothing to do.\nDONE"} {
				reply, err := s.ask(ctx, "Fix the bug.")
				Expect(err).NotTo(HaveOccurred())
				Expect(reply.Text).To(Equal(want))
			}
			report := s.ended()
			Expect(report.Exchanges).To(HaveLen(3))
			for i, x := range report.Exchanges {
				Expect(x).To(MatchFields(IgnoreExtras, Fields{
					"N": Equal(i + 1), "Delivered": BeTrue(), "HungUp": BeFalse(), "Problem": BeEmpty(), "Bytes": BeNumerically(">", 0),
				}))
			}
			Expect(slices.Concat(report.Unused, report.Unexpected, report.Invalid, report.Unfired)).To(BeEmpty())
		})

		It("passes on any text", func(ctx SpecContext) {
			text := "a \"quoted\" \\ <tag> & {\"type\":\"result\"}\n\n  indented \u2028 日本 é \x1b[1m\nDONE"
			s := perform(style, mocks.Script{Replies: texts(text)}, agent.Config{})
			reply, err := s.ask(ctx, "x")
			Expect(err).NotTo(HaveOccurred())
			Expect(reply.Text).To(Equal(text))
		})

		It("serves several invocations at once", func(ctx SpecContext) {
			s := perform(style, mocks.Script{Rules: []mocks.Line{{Answer: mocks.Answer{Template: "you said {{.User}}"}}}}, agent.Config{})
			var calls sync.WaitGroup
			for i := range 6 {
				calls.Go(func() {
					defer GinkgoRecover()
					reply, err := s.ask(ctx, strings.Repeat("x", i+1))
					Expect(err).NotTo(HaveOccurred())
					Expect(reply.Text).To(Equal("you said " + strings.Repeat("x", i+1)))
				})
			}
			calls.Wait()
			Expect(s.ended().Exchanges).To(HaveLen(6))
		})

		It("calls tools on its own", func(ctx SpecContext) {
			line := mocks.Line{Answer: mocks.Answer{Text: "Done.", ToolCalls: []mocks.ScriptedToolCall{{Name: "Bash", Arguments: map[string]any{"command": "go test"}}}}}
			s := perform(style, mocks.Script{Replies: []mocks.Line{line}}, agent.Config{})
			reply, err := s.ask(ctx, "Fix it.")
			Expect(err).NotTo(HaveOccurred())
			Expect(reply.Text).To(Equal("Done."))
			Expect(reply.ToolCalls).To(BeEmpty(), "the agent has made them itself")
		})

		It("fails loudly when it is called once too often", func(ctx SpecContext) {
			s := perform(style, mocks.Script{Replies: texts("DONE")}, agent.Config{})
			_, err := s.ask(ctx, "one")
			Expect(err).NotTo(HaveOccurred())
			_, err = s.ask(ctx, "two")
			Expect(llm.KindOf(err)).To(Equal(llm.Failed))
			report := s.ended()
			Expect(report.Unexpected).To(HaveLen(1))
			Expect(err).To(MatchError(ContainSubstring(report.Exchanges[1].Problem)))
		})

		It("is matched by its prompt, however long", func(ctx SpecContext) {
			long := strings.Repeat("words and more ", 10_000) + "needle"
			rules := texts("found")
			rules[0].When = &mocks.When{User: &mocks.Match{Contains: "more needle"}}
			s := perform(style, mocks.Script{Rules: rules}, agent.Config{})
			reply, err := s.ask(ctx, long)
			Expect(err).NotTo(HaveOccurred())
			Expect(reply.Text).To(Equal("found"))
		})

		It("takes as long as the script requires", func(ctx SpecContext) {
			lines := texts("one two three four")
			lines[0].Latency = &mocks.Latency{First: quantity.Duration(time.Hour), PerToken: quantity.Duration(time.Minute)}
			virtual := clock.NewVirtual()
			s := perform(style, mocks.Script{Replies: lines}, agent.Config{Clock: virtual})
			_, err := s.ask(ctx, "x")
			Expect(err).NotTo(HaveOccurred())
			Expect(virtual.Elapsed()).To(Equal(time.Hour + 4*time.Minute))
		})

		It("shows a provider's rate limit", func(ctx SpecContext) {
			lines := texts("DONE")
			lines[0].Fault = &mocks.Fault{Kind: "status", Status: 429, RetryAfter: quantity.Duration(2 * time.Second)}
			s := perform(style, mocks.Script{Replies: lines}, agent.Config{})
			_, err := s.ask(ctx, "x")
			Expect(llm.KindOf(err)).To(Equal(llm.RateLimited), "%v", err)
			reply, err := s.ask(ctx, "x")
			Expect(err).NotTo(HaveOccurred())
			Expect(reply.Text).To(Equal("DONE"))
			report := s.ended()
			Expect(slices.Concat(report.Unused, report.Unfired)).To(BeEmpty())
		})

		It("shows an empty answer", func(ctx SpecContext) {
			lines := texts("DONE")
			lines[0].Fault = &mocks.Fault{Kind: "empty-text"}
			s := perform(style, mocks.Script{Replies: lines}, agent.Config{})
			_, err := s.ask(ctx, "x")
			Expect(llm.KindOf(err)).To(Equal(llm.Malformed))
			Expect(s.ended().Exchanges[0].Fired).To(BeTrue())
		})
	})
})

var _ = Describe("usage and cost", Label("L-02"), func() {
	script := func() mocks.Script {
		lines := texts("Done.")
		lines[0].Usage = &mocks.ScriptedUsage{Input: 100, CachedInput: 900, Output: 50, Reasoning: 20}
		return mocks.Script{Model: "m-1", Replies: lines}
	}
	DescribeTable("arrive as scripted",
		func(ctx SpecContext, style string, want *llm.Usage, cost OmegaMatcher) {
			price := func(model string, u llm.Usage) (float64, bool) { return 0.25, model == "m-1" && u.Output == 50 }
			reply, err := perform(style, script(), agent.Config{Price: price}).ask(ctx, "x")
			Expect(err).NotTo(HaveOccurred())
			Expect(reply.Usage).To(Equal(want))
			Expect(reply.ReportedUSD).To(cost)
		},
		Entry("Claude Code", "claude", &llm.Usage{Input: 100, CachedInput: 900, Output: 50, Source: llm.UsageReported}, PointTo(Equal(0.25))),
		Entry("Codex", "codex", &llm.Usage{Input: 100, CachedInput: 900, Output: 50, Reasoning: 20, Source: llm.UsageReported}, BeNil()),
		Entry("Gemini CLI", "gemini", &llm.Usage{Input: 100, CachedInput: 900, Output: 50, Reasoning: 20, Source: llm.UsageReported}, BeNil()),
		Entry("Copilot CLI", "copilot", nil, BeNil()),
		Entry("plain text", "exec", nil, BeNil()),
	)

	It("are not reported if the price is unknown", func(ctx SpecContext) {
		reply, err := perform("claude", script(), agent.Config{}).ask(ctx, "x")
		Expect(err).NotTo(HaveOccurred())
		Expect(reply.ReportedUSD).To(BeNil())
	})
})

// outcome describes a fault as the caller must see it.
type outcome struct {
	kind llm.ErrorKind // "" means that the call succeeds
	text string        // in the error
}

// outcomes has a row for every fault; the styles' exceptions follow.
var outcomes = map[string]outcome{
	"exit":              {llm.Failed, "no settings"},
	"error-in-success":  {llm.Failed, "no settings"},
	"hang":              {llm.Timeout, "deadline"},
	"hang-after-output": {llm.Timeout, "deadline"},
	"flood":             {llm.Malformed, "1048576 bytes"},
	"truncated-jsonl":   {llm.Truncated, "before its final event"},
	"ignore-sigterm":    {llm.Timeout, "deadline"},
	"grandchild":        {},
}

// A program that only writes text cannot show these.
var plainOutcomes = map[string]outcome{"error-in-success": {}, "truncated-jsonl": {}}

var _ = Describe("a process fault", Label("L-04", "H-02"), func() {
	It("of every kind is in the table", func() {
		var kinds []string
		for kind := range outcomes {
			kinds = append(kinds, kind)
		}
		Expect(kinds).To(ConsistOf(mocks.ProcessFaults()))
	})

	eachStyle(func(style string) {
		for _, kind := range mocks.ProcessFaults() {
			hows := []string{"on the line"}
			if style == "claude" { // one for all
				hows = append(hows, "injected")
			}
			for _, how := range hows {
				It(kind+", "+how+", fires, is reported as it is, leaves nothing behind and spares the retry", func(ctx SpecContext) {
					want, exception := plainOutcomes[kind]
					if !exception || style != "exec" {
						want = outcomes[kind]
					}
					fault := &mocks.Fault{Kind: kind}
					if strings.Contains(want.text, "settings") {
						fault.Message = want.text
					}
					lines := texts("Working\non it.\nDONE")
					if fault.Brings() {
						lines[0].Times = 2
					}
					lines[0].Fault = fault
					var inject []mocks.Injection
					if how == "injected" {
						lines[0].Fault, inject = nil, []mocks.Injection{{Call: 1, Name: kind, Fault: fault}}
					}
					s := perform(style, mocks.Script{Replies: lines}, agent.Config{}, inject...)

					err := s.first(ctx, kind, want)
					Expect(llm.KindOf(err)).To(Equal(want.kind), "%v", err)
					if want.kind != "" {
						Expect(err).To(MatchError(ContainSubstring(want.text)))
					}
					report := s.ended()
					Expect(report.Exchanges[0].Fault).To(Equal(kind))
					Expect(report.Exchanges[0].Fired).To(BeTrue())
					Expect(report.Unfired).To(BeEmpty())

					reply, err := s.ask(ctx, "Fix it.")
					Expect(err).NotTo(HaveOccurred())
					Expect(reply.Text).To(Equal("Working\non it.\nDONE"))
					report = s.ended()
					Expect(slices.Concat(report.Unused, report.Unexpected)).To(BeEmpty())
				})
			}
		}
	})

	It("that only SIGKILL ends has survived a SIGTERM, or it has not fired", func(ctx SpecContext) {
		lines := texts("DONE")
		lines[0].Fault = &mocks.Fault{Kind: "ignore-sigterm"}
		s := perform("claude", mocks.Script{Replies: lines}, agent.Config{})
		// Closing the server takes the agent away before anybody sends SIGTERM.
		called := make(chan error, 1)
		go func() {
			defer GinkgoRecover()
			_, err := s.ask(ctx, "x")
			called <- err
		}()
		Eventually(s.server.Living).Should(Equal(1))
		Expect(s.server.Close()).To(Succeed())
		Eventually(called).Should(Receive(HaveOccurred()))
		Expect(s.engine.Report().Unfired).To(HaveLen(1))
	})

	DescribeTable("of a provider's connection reaches the caller through the agent",
		func(ctx SpecContext, kind string, frames int) {
			lines := texts("Working.\nDONE")
			lines[0].Fault = &mocks.Fault{Kind: kind}
			s := perform("codex", mocks.Script{Replies: lines}, agent.Config{})
			_, err := s.ask(ctx, "x")
			Expect(llm.KindOf(err)).To(Equal(llm.Truncated), "%v", err)
			Expect(s.ended().Exchanges[0]).To(MatchFields(IgnoreExtras, Fields{"Fired": BeTrue(), "Frames": Equal(frames)}))
		},
		Entry("it dies in the middle", "reset-mid-stream", 3),
		Entry("it ends in the middle", "truncated-stream", 3),
	)

	It("exit has its status and its number of lines", func(ctx SpecContext) {
		lines := texts("one\ntwo\nthree")
		lines[0].Fault = &mocks.Fault{Kind: "exit", Status: 42, After: new(2)}
		s := perform("exec", mocks.Script{Replies: lines}, agent.Config{})
		_, err := s.ask(ctx, "x")
		var failure *llm.Error
		Expect(errors.As(err, &failure)).To(BeTrue())
		Expect(failure.Status).To(Equal(42))
		Expect(failure.Partial).To(Equal("one\ntwo"))
		Expect(s.ended().Exchanges[0].Status).To(Equal(42))
	})

	It("that needs more lines than there are does not fire, and is reported", func(ctx SpecContext) {
		lines := texts("one")
		lines[0].Fault = &mocks.Fault{Kind: "exit", After: new(2)}
		s := perform("exec", mocks.Script{Replies: lines}, agent.Config{})
		_, err := s.ask(ctx, "x")
		Expect(err).NotTo(HaveOccurred())
		Expect(s.ended().Unfired).To(HaveLen(1))
	})
})

// first makes the call at which the fault fires. An agent that hangs meets its
// deadline once the fault has fired; one that has to survive SIGTERM fires only
// after it, so there the deadline is one of the clock.
func (s stage) first(ctx context.Context, kind string, want outcome) error {
	switch {
	case want.kind != llm.Timeout:
		_, err := s.ask(ctx, "Fix it.")
		return err
	case kind == "ignore-sigterm":
		short, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		_, err := s.ask(short, "Fix it.")
		return err
	}
	short, cancel := context.WithCancelCause(ctx)
	called := make(chan error, 1)
	go func() {
		defer GinkgoRecover()
		_, err := s.ask(short, "Fix it.")
		called <- err
	}()
	Eventually(func() []mocks.Record { return s.engine.Report().Exchanges }).
		Should(ContainElement(HaveField("Fired", true)))
	Consistently(called).WithTimeout(50 * time.Millisecond).ShouldNot(Receive())
	cancel(context.DeadlineExceeded)
	var err error
	Eventually(called).Should(Receive(&err))
	return err
}

var _ = DescribeTable("an answer that the real program changes is changed in the same way", Label("H-02"),
	func(ctx SpecContext, style string, answer mocks.Answer, kind llm.ErrorKind, status int, message string) {
		s := perform(style, mocks.Script{Replies: []mocks.Line{{Answer: answer}}}, agent.Config{})
		_, err := s.ask(ctx, "Go.")
		failure, ok := errors.AsType[*llm.Error](err)
		Expect(ok).To(BeTrue(), "%v", err)
		Expect(failure.Kind).To(Equal(kind))
		Expect(failure.Status).To(Equal(status))
		Expect(failure.Message).To(ContainSubstring(message))
		Expect(s.ended().Unused).To(BeEmpty())
	},
	Entry("claude: a refusal", "claude", mocks.Answer{Refusal: "I cannot."}, llm.Refused, 1, "Usage Policy"),
	Entry("codex: a refusal", "codex", mocks.Answer{Refusal: "I cannot."}, llm.Malformed, 0, "gave no text"),
	Entry("codex: an answer that was cut off", "codex", mocks.Answer{Text: "Half", Finish: "length"}, llm.Truncated, 1, "max_output_tokens"),
)
