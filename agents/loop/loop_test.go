package loop_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/loop"
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/internal/quantity"
	"github.com/rehearse-dev/rehearse/llm"
)

// adapter is a backend with an id.
type adapter struct {
	llm.Backend
	id      string
	missing error
}

func (a adapter) ID() string                      { return a.id }
func (a adapter) Available(context.Context) error { return a.missing }

func within(d time.Duration) *quantity.Duration { return new(quantity.Duration(d)) }

var _ = Describe("Run", Label("L-01"), func() {
	It("returns everything that happened", func() {
		usage := &llm.Usage{Input: 10, Output: 2}
		r := newRig(loop.Options{Model: "m", System: "Be brief.", History: loop.Fresh},
			answer(2*time.Second, llm.Reply{Text: "half", Usage: usage, Finish: llm.FinishStop}), sayIn(3*time.Second, "all\nDONE"))
		Expect(r.run()).To(Equal(loop.Result{
			ExitCode: 0, Text: "all\nDONE", Backend: "fake", Status: loop.StatusDone, Iterations: 2, Duration: 5 * time.Second,
			Totals: loop.Totals{Tokens: 12, TokensUnknown: 1, CostUnknown: 2},
			Transcript: []loop.Entry{
				{N: 1, Prompt: "Task", Answer: "half", Finish: llm.FinishStop, Usage: usage, At: 0, Duration: 2 * time.Second},
				{N: 2, Prompt: "Task", Answer: "all\nDONE", Finish: llm.FinishStop, At: 2 * time.Second, Duration: 3 * time.Second},
			},
			Details: "completed in iteration 2", Prose: "all", Completed: true,
		}))
		Expect(r.requests[0]).To(Equal(llm.Request{
			Purpose: "loop", MaxTurns: 500, DenialLimit: 10, FailureLimit: 25, Model: "m",
			Messages: []llm.Message{{Role: llm.System, Content: "Be brief."}, {Role: llm.User, Content: "Task"}},
		}))
	})

	It("takes the summary from the answer in json mode", Label("L-08"), func() {
		r := newRig(loop.Options{Mode: loop.JSON}, say(`{"status":"continue","summary":"half"}`), say(`ok {"status":"done","summary":"all"}`))
		res := r.run()
		Expect(res.Status).To(Equal(loop.StatusDone))
		Expect(res.Summary).To(Equal("all"))
	})

	It("notes an unknown status and continues", Label("L-08"), func() {
		r := newRig(loop.Options{Mode: loop.JSON}, say(`{"status":"finished"}`), say(`{"status":"done"}`))
		Expect(r.run().Iterations).To(Equal(2))
		Expect(r.emitted(event.Verdict)).To(HaveLen(1))
		Expect(r.emitted(event.Verdict)[0].Detail).To(ContainSubstring("finished"))
	})

	DescribeTable("never completes with an answer that was cut off", Label("L-08"),
		func(finish llm.FinishReason) {
			r := newRig(loop.Options{}, answer(0, llm.Reply{Text: "DONE", Finish: finish}), say("now\nDONE"))
			res := r.run()
			Expect(res.Status).To(Equal(loop.StatusDone))
			Expect(res.Iterations).To(Equal(2))
		},
		Entry("by its length", llm.FinishLength), Entry("by a filter", llm.FinishContentFilter),
	)

	It("completes with the same text once it is whole, even if the guards fire", Label("L-07"), func() {
		r := newRig(loop.Options{NoProgressLimit: new(2)}, answer(0, llm.Reply{Text: "DONE", Finish: llm.FinishLength}), say("DONE"))
		Expect(r.run().Status).To(Equal(loop.StatusDone))
	})

	It("calls back after the entry and before it judges", Label("L-07"), func() {
		var seen []int
		r := newRig(loop.Options{NoProgressLimit: new(1)}, say("x"))
		r.deps.OnIteration = func(e loop.Entry) {
			Expect(r.emitted(event.Iteration)).To(HaveLen(e.N))
			Expect(r.emitted(event.Guard)).To(BeEmpty())
			seen = append(seen, e.N)
		}
		Expect(r.run().Status).To(Equal(loop.StatusNoProgress))
		Expect(seen).To(Equal([]int{1}))
	})

	It("streams what arrives to OnText", func() {
		r := newRig(loop.Options{Stream: new(true)}, say("DONE"))
		var got string
		r.deps.OnText = func(delta string) { got += delta }
		r.run()
		Expect(r.requests[0].Stream).To(BeTrue())
		r.requests[0].OnText("a")
		Expect(got).To(Equal("a"))
	})

	It("is the same without a sink", func() {
		turns := all("a", "b", "a\nDONE")
		with := newRig(loop.Options{}, turns...)
		without := newRig(loop.Options{}, turns...)
		without.deps.Sink = nil
		Expect(without.run()).To(Equal(with.run()))
		Expect(with.events).NotTo(BeEmpty())
	})

	It("emits each iteration and the end, in order", func() {
		r := newRig(loop.Options{ErrorLimit: new(2)}, fail(llm.Unavailable, "503"), answer(0, llm.Reply{Text: "DONE", Finish: llm.FinishStop, Usage: &llm.Usage{Output: 3}}))
		r.run()
		Expect(r.events).To(Equal([]event.Event{
			{Kind: event.Iteration, N: 1, Detail: "fake: unavailable: 503", Attrs: map[string]any{"ok": false, "error": "unavailable"}},
			{Kind: event.Iteration, N: 2, Attrs: map[string]any{"ok": true, "finish": "stop", "tokens": 3}},
			{Kind: event.End, Name: "done", N: 2, Detail: "completed in iteration 2", Attrs: map[string]any{"exit_code": 0}},
		}))
	})

	It("survives a round trip through JSON with every field set", Label("L-09"), func() {
		want := loop.Result{
			ExitCode: 5, Text: "t", Backend: "b", Status: loop.StatusNoProgress, Guard: "g", Iterations: 1, Duration: 3,
			Transcript: []loop.Entry{{
				N: 1, Prompt: "p", Answer: "a", Error: "e", ErrorKind: llm.Failed, Finish: llm.FinishStop,
				Usage: &llm.Usage{Input: 1, CachedInput: 2, CacheWrite: 3, Output: 4, Reasoning: 5, Source: llm.UsageCounted}, At: 1, Duration: 2,
			}},
			Summary: "s", Details: "d",
		}
		text, err := json.Marshal(want)
		Expect(err).NotTo(HaveOccurred())
		var got loop.Result
		Expect(json.Unmarshal(text, &got)).To(Succeed())
		Expect(got).To(Equal(want))
	})
})

var _ = Describe("Run never panics", func() {
	It("treats a panic of the backend as a failed call", func() {
		r := newRig(loop.Options{})
		r.deps.Backend = llm.BackendFunc(func(context.Context, llm.Request) (llm.Reply, error) { panic("boom") })
		res := r.run()
		Expect(res.Status).To(Equal(loop.StatusError))
		Expect(res.Details).To(ContainSubstring("boom"))
		Expect(res.Details).NotTo(ContainSubstring("goroutine"))
		Expect(res.Transcript).To(HaveLen(1))
	})

	It("ends when a callback panics", func() {
		r := newRig(loop.Options{}, say("x"))
		r.deps.OnIteration = func(loop.Entry) { panic("boom") }
		res := r.run()
		Expect(res.Status).To(Equal(loop.StatusError))
		Expect(res.ExitCode).To(Equal(1))
		Expect(res.Details).To(Equal("panic: boom"))
		Expect(res.Err).To(MatchError(ContainSubstring("goroutine")))
		Expect(res.Iterations).To(Equal(1))
	})

	It("refuses settings that were not resolved", func() {
		r := newRig(loop.Options{})
		res := loop.Run(context.Background(), loop.Settings{}, r.deps)
		Expect(res.Status).To(Equal(loop.StatusError))
		Expect(res.Details).To(ContainSubstring("max_iterations"))
		Expect(r.requests).To(BeEmpty())
	})

	It("refuses to run without a backend", func() {
		r := newRig(loop.Options{})
		r.deps.Backend = nil
		Expect(r.run().Details).To(ContainSubstring("no backend"))
	})
})

var _ = Describe("Backends are found by id", Label("L-02"), func() {
	var adapters []llm.Adapter

	BeforeEach(func() {
		r := newRig(loop.Options{}, say("DONE"))
		adapters = []llm.Adapter{
			adapter{id: "copilot", missing: errors.New("the program copilot is not installed")},
			adapter{id: "claude", Backend: r},
		}
	})

	It("has copilot as the default", func() {
		Expect(loop.Defaults().Backend).To(Equal("copilot"))
	})

	It("reports before the first call which one can be used", func(ctx SpecContext) {
		_, err := llm.FindAdapter(ctx, loop.Defaults().Backend, adapters...)
		Expect(err).To(MatchError(And(ContainSubstring("not installed"), ContainSubstring("available: claude"))))
		_, err = llm.FindAdapter(ctx, "cluade", adapters...)
		Expect(err).To(MatchError(And(ContainSubstring(`"cluade"`), ContainSubstring("available: claude"))))
	})

	It("runs with the one that is available", func(ctx SpecContext) {
		s, err := loop.Resolve(loop.Options{Prompt: "Task", Backend: "claude"}, loop.Options{})
		Expect(err).NotTo(HaveOccurred())
		found, err := llm.FindAdapter(ctx, s.Backend, adapters...)
		Expect(err).NotTo(HaveOccurred())
		rig := newRig(loop.Options{})
		res := loop.Run(ctx, s, loop.Deps{Backend: found, Clock: rig.clock})
		Expect(res.Backend).To(Equal("claude"))
		Expect(res.Status).To(Equal(loop.StatusDone))
	})
})

var _ = Describe("History", func() {
	It("sends the prompt alone when fresh, as it is by default", func() {
		r := newRig(loop.Options{}, all("a", "DONE")...)
		r.run()
		Expect(r.sent(1)).To(Equal([]string{"Task"}))
		Expect(r.sent(2)).To(Equal([]string{"Task"}))
	})

	It("sends everything to a backend that is conversational", func() {
		r := newRig(loop.Options{System: "S", ContinuePrompt: "Go on."}, all("a", "b", "DONE")...)
		r.deps.Conversational = true
		res := r.run()
		Expect(r.sent(3)).To(Equal([]string{"S", "Task", "a", "Go on.", "b", "Go on."}))
		Expect(r.requests[2].Messages[2].Role).To(Equal(llm.Assistant))
		Expect(res.Transcript[2].Prompt).To(Equal("Go on."))
	})

	DescribeTable("follows the setting whatever the backend is",
		func(h loop.History, conversational bool, messages int) {
			r := newRig(loop.Options{History: h}, all("a", "DONE")...)
			r.deps.Conversational = conversational
			r.run()
			Expect(r.requests[1].Messages).To(HaveLen(messages))
		},
		Entry("fresh", loop.Fresh, true, 1),
		Entry("conversation", loop.Conversation, false, 3),
	)

	It("names the marker when it asks to continue", func() {
		r := newRig(loop.Options{History: loop.Conversation, Marker: "FINI"}, all("a", "FINI")...)
		r.run()
		Expect(r.sent(2)[2]).To(ContainSubstring("FINI on a line of its own"))
		Expect(loop.Defaults().ContinuePrompt).To(ContainSubstring("DONE"))
	})

	It("repeats a call that failed or had an empty answer", func() {
		r := newRig(loop.Options{History: loop.Conversation, ErrorLimit: new(2)}, say("a"), fail(llm.Unavailable, ""), say(""), say("DONE"))
		r.run()
		Expect(r.requests[2].Messages).To(Equal(r.requests[1].Messages))
		Expect(r.requests[3].Messages).To(Equal(r.requests[1].Messages))
	})

	It("never changes messages that a backend was given", func() {
		var sentTexts [][]string
		r := newRig(loop.Options{History: loop.Conversation}, all("a", "b", "DONE", "c\nDONE")...)
		r.deps.SetJudge(refuse(1, "step"))
		r.deps.OnIteration = func(e loop.Entry) { sentTexts = append(sentTexts, r.sent(e.N)) }
		r.run()
		for i, texts := range sentTexts {
			Expect(r.sent(i + 1)).To(Equal(texts))
			Expect(r.requests[i].Messages).To(HaveCap(len(texts)), "an append by the backend must not reach ours")
		}
	})
})

var _ = Describe("Statuses", Label("L-09"), func() {
	It("has stable exit codes", func() {
		var table []string
		for _, row := range loop.Statuses() {
			Expect(row.Meaning).NotTo(BeEmpty())
			table = append(table, string(row.Status)+" "+strings.TrimSpace(jsonOf(row.Status.ExitCode())))
		}
		Expect(table).To(Equal([]string{
			"done 0", "error 1", "timeout 3", "max-iterations 4", "no-progress 5", "blocked 6", "budget 7", "capped 8", "limited 12",
			"interrupted 130",
		}))
	})

	It("is text in JSON, and other texts are refused", func() {
		for _, row := range loop.Statuses() {
			var back loop.Status
			Expect(json.Unmarshal([]byte(jsonOf(row.Status)), &back)).To(Succeed())
			Expect(back).To(Equal(row.Status))
		}
		var s loop.Status
		Expect(json.Unmarshal([]byte(`"finished"`), &s)).To(MatchError(ContainSubstring("finished")))
	})

	It("treats an unknown status as an error", func() {
		Expect(loop.Status("finished").ExitCode()).To(Equal(1))
	})
})

func jsonOf(v any) string {
	text, err := json.Marshal(v)
	Expect(err).NotTo(HaveOccurred())
	return string(text)
}
