package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/loop"
	"github.com/rehearse-dev/rehearse/agents/loop/cli"
	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/internal/console"
	"github.com/rehearse-dev/rehearse/internal/quantity"
	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/redact"
)

func TestLoopCLI(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "agents/loop/cli")
}

// agent answers with texts in order, in one session.
type agent struct {
	texts    []string
	requests []llm.Request
}

func (a *agent) Complete(_ context.Context, req llm.Request) (llm.Reply, error) {
	a.requests = append(a.requests, req)
	if len(a.texts) == 0 {
		return llm.Reply{}, &llm.Error{Kind: llm.ScriptExhausted, Backend: "fake"}
	}
	text := a.texts[0]
	a.texts = a.texts[1:]
	if req.OnSession != nil {
		req.OnSession("s-1")
	}
	return llm.Reply{Text: text, Session: &llm.Session{ID: "s-1"}, Usage: &llm.Usage{Input: 10}}, nil
}

var _ = Describe("The transcript of a loop", Label("L-01"), func() {
	var path string
	var events bytes.Buffer
	BeforeEach(func() { path = filepath.Join(GinkgoT().TempDir(), "loop.jsonl"); events.Reset() })
	resolve := func(o ...loop.Options) loop.Settings {
		GinkgoHelper()
		s, err := loop.Resolve(append(o, loop.Options{Prompt: "Task", Contract: loop.NoContract})...)
		Expect(err).NotTo(HaveOccurred())
		return s
	}
	output := func() cli.Output {
		return cli.Output{Redact: redact.New([]string{"hunter2-and-more"}), Events: &events}
	}
	start := func(o ...loop.Options) *cli.Session {
		GinkgoHelper()
		s, err := cli.Open(path, "rehearse test", resolve(o...), cli.Job{Dir: "/work", Args: []string{"-x"}}, output())
		Expect(err).NotTo(HaveOccurred())
		return s
	}
	play := func(s *cli.Session, texts ...string) (*agent, loop.Result) {
		GinkgoHelper()
		a := &agent{texts: texts}
		res, err := s.Run(context.Background(), loop.Deps{Backend: a, Clock: clock.NewVirtual()}, console.NewView(&bytes.Buffer{}, console.Terminal{}, nil))
		Expect(errors.Join(err, s.Close())).To(Succeed())
		return a, res
	}
	reopen := func() *cli.Paused {
		GinkgoHelper()
		p, err := cli.Reopen(path)
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(func() { _ = p.Close() }) // closed already if it began
		return p
	}
	begin := func(p *cli.Paused, answer string, o loop.Options) (*cli.Session, error) {
		GinkgoHelper()
		stored, err := p.Options()
		Expect(err).NotTo(HaveOccurred())
		return p.Begin("rehearse test", resolve(o, stored), p.Job, answer, output())
	}

	It("is read back whole", func() {
		_, res := play(start(loop.Options{MaxIterations: new(2)}), "a", "b")
		r, err := cli.Read(path)
		Expect(err).NotTo(HaveOccurred())
		Expect(r.Entries).To(Equal(res.Transcript))
		Expect(r.Result.Status).To(Equal(loop.StatusMaxIterations))
		Expect(r.Settings).To(Equal(resolve(loop.Options{MaxIterations: new(2)})))
		Expect(r.Job).To(Equal(cli.Job{Dir: "/work", Args: []string{"-x"}}))
		written, err := os.ReadFile(path)
		Expect(err).NotTo(HaveOccurred())
		Expect(events.String()).To(Equal(string(written)), "the events are its lines")
	})

	It("continues a run that ended at a limit if that is raised", func() {
		play(start(loop.Options{MaxIterations: new(2)}), "a", "b")
		p := reopen()
		_, err := begin(p, "", loop.Options{})
		Expect(err).To(MatchError(ContainSubstring("ended at its limit max_iterations; raise that with --max-iterations")))
		s, err := begin(p, "", loop.Options{MaxIterations: new(3)})
		Expect(err).NotTo(HaveOccurred())
		_, res := play(s, "c")
		Expect(res.Iterations).To(Equal(3))
	})

	It("continues a run that was killed", func() {
		play(start(), "a", "b", "c\nDONE")
		cut(path, `"type":"iteration","n":2`)
		s, err := begin(reopen(), "", loop.Options{})
		Expect(err).NotTo(HaveOccurred())
		a, res := play(s, "rest\nDONE")
		Expect(res.Status).To(Equal(loop.StatusDone))
		Expect(res.Iterations).To(Equal(2))
		Expect(a.requests[0].Session).To(HaveField("ID", "s-1"))
		r, err := cli.Read(path)
		Expect(err).NotTo(HaveOccurred())
		Expect(r.Processes).To(Equal(2))
		Expect(r.Entries).To(HaveLen(2))
		Expect(r.Result.Status).To(Equal(loop.StatusDone))
	})

	It("continues a run that was killed in its first call", func() {
		play(start(), "a\nDONE")
		cut(path, `"type":"iteration","n":1`)
		s, err := begin(reopen(), "", loop.Options{})
		Expect(err).NotTo(HaveOccurred())
		a, _ := play(s, "DONE")
		Expect(a.requests[0].Session).To(HaveField("ID", "s-1"), "its session had begun")
	})

	It("counts the call in which a run was killed as unknown, and no other", func() {
		play(start(), "a", "b\nDONE")
		cut(path, `"type":"iteration","n":2`)
		r, err := cli.Read(path)
		Expect(err).NotTo(HaveOccurred())
		Expect(r.Totals()).To(Equal(loop.Totals{Tokens: 10, TokensUnknown: 1, CostUnknown: 2}))
		p := reopen()
		s, err := begin(p, "", loop.Options{})
		Expect(err).NotTo(HaveOccurred())
		_, res := play(s, "rest\nDONE")
		Expect(res.Totals).To(Equal(loop.Totals{Tokens: 20, TokensUnknown: 1, CostUnknown: 3}))
		r, err = cli.Read(path)
		Expect(err).NotTo(HaveOccurred())
		Expect(r.Totals()).To(Equal(res.Totals))
	})

	It("takes the answer of a person where the agent asked, and only there", func() {
		play(start(), "BLOCKED: which one?")
		_, err := begin(reopen(), "", loop.Options{})
		Expect(err).To(MatchError(ContainSubstring("give the answer with --answer")))
	})
	It("gives the answer to the agent, with its secrets, and stores it without", func() {
		play(start(), "BLOCKED: which one?")
		s, err := begin(reopen(), "the one of hunter2-and-more", loop.Options{})
		Expect(err).NotTo(HaveOccurred())
		a, _ := play(s, "DONE")
		Expect(a.requests[0].Messages[0].Content).To(HaveSuffix("The answer: the one of hunter2-and-more"))
		Expect(os.ReadFile(path)).NotTo(ContainSubstring("hunter2"))
	})

	DescribeTable("is refused with a named error",
		func(content string, want error, says string) {
			Expect(os.WriteFile(path, []byte(content), 0o600)).To(Succeed())
			_, err := cli.Reopen(path)
			Expect(err).To(And(MatchError(want), MatchError(ContainSubstring(says))))
			_, err = cli.Read(path)
			Expect(err).To(MatchError(want))
		},
		Entry("empty", "", cli.ErrForeign, "it is empty"),
		Entry("a torn first line", `{"type":"begin","kind":"loop"`, cli.ErrForeign, "it is empty"),
		Entry("a recording", `{"type":"run"}`+"\n", cli.ErrForeign, "loop.jsonl:1: it is not a transcript of rehearse loop"),
		Entry("the transcript of another agent", `{"type":"begin","tool":"rehearse"}`+"\n", cli.ErrForeign, "it is not a transcript"),
		Entry("binary", "\x00\x01\n", cli.ErrForeign, "it is not a transcript"),
	)
	It("is refused if a line is damaged", func() {
		play(start(), "a", "b\nDONE")
		data, err := os.ReadFile(path)
		Expect(err).NotTo(HaveOccurred())
		Expect(os.WriteFile(path, bytes.Replace(data, []byte(`"n":1`), []byte(`"n":"`), 1), 0o600)).To(Succeed())
		_, err = cli.Reopen(path)
		Expect(err).To(MatchError(ContainSubstring("the line is damaged")))
	})
	It("is refused if the work is done", func() {
		play(start(), "DONE")
		_, err := cli.Reopen(path)
		Expect(err).To(And(MatchError(cli.ErrFinished), MatchError(ContainSubstring("rehearse report"))))
	})
	It("is refused while another process runs it", func() {
		s := start()
		_, err := cli.Reopen(path)
		Expect(err).To(MatchError(cli.ErrBusy))
		Expect(s.Close()).To(Succeed())
	})
	It("is refused if it lacks a secret that the agent needs", func() {
		play(start(loop.Options{Prompt: "Deploy with hunter2-and-more.", MaxIterations: new(1)}), "a")
		_, err := cli.Reopen(path)
		Expect(err).To(MatchError(ContainSubstring("the transcript does not have the secrets in its prompt")))
	})

	DescribeTable("has the settings as options again",
		func(o loop.Options) {
			want := resolve(o)
			play(start(o), "a", "a2", "a3", "a4", "a5", "a6", "a7", "a8", "a9", "a10", "a11")
			got, err := reopen().Options()
			Expect(err).NotTo(HaveOccurred())
			Expect(resolve(got)).To(Equal(want))
		},
		Entry("the defaults", loop.Options{}),
		Entry("limits that are off", loop.Options{
			Timeout: new(quantity.Duration), CallTimeout: new(quantity.Duration), NoProgressLimit: new(0), ErrorLimit: new(0),
			ContinuationLimit: new(0), SameStepsLimit: new(0),
		}),
		Entry("all kinds of values", loop.Options{
			System: "Be brief.", Model: "m", Stream: new(true), Mode: loop.JSON, History: loop.Fresh, ContinuePrompt: "Go on.",
			Contract: "Say it.", Timeout: new(quantity.Duration(time.Hour)), StopGuard: "strict", Todos: loop.OneByOne,
			Budget:  &llm.Caps{Calls: 5, Cost: quantity.Money{Amount: 0.5, Currency: quantity.EUR}},
			Breaker: &loop.BreakerOptions{Failures: 2, Cooldown: quantity.Duration(time.Second), MaxOpens: 3},
		}),
	)

	It("is found by its name", func() {
		folder := filepath.Dir(path)
		_, err := cli.Latest(folder)
		Expect(err).To(MatchError(ContainSubstring("there is no run to continue")))
		for _, name := range []string{"loop-20260102.jsonl", "loop-20260101.jsonl", "react-20260103.jsonl"} {
			Expect(os.WriteFile(filepath.Join(folder, name), nil, 0o600)).To(Succeed())
		}
		Expect(cli.Latest(folder)).To(Equal(filepath.Join(folder, "loop-20260102.jsonl")))
	})
})

// cut ends a transcript before the line with a text, in the middle of that line.
func cut(path, before string) {
	GinkgoHelper()
	data, err := os.ReadFile(path)
	Expect(err).NotTo(HaveOccurred())
	var kept []byte
	for line := range bytes.Lines(data) {
		if bytes.Contains(line, []byte(before)) {
			kept = append(kept, line[:len(line)/2]...)
			break
		}
		kept = append(kept, line...)
	}
	Expect(json.Valid(kept)).To(BeFalse())
	Expect(os.WriteFile(path, kept, 0o600)).To(Succeed())
}
