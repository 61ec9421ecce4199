package followup_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gleak"

	"github.com/rehearse-dev/rehearse/agents/stop"
	"github.com/rehearse-dev/rehearse/agents/stop/followup"
	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/llm"
)

func TestFollowup(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "agents/stop/followup")
}

var _ = BeforeEach(func() {
	before := gleak.Goroutines()
	DeferCleanup(func() { Eventually(gleak.Goroutines).ShouldNot(gleak.HaveLeaked(before)) })
})

// turn is what a backend does with one call.
type turn func(ctx context.Context, c clock.Clock) (llm.Reply, error)

// say answers after one second.
func say(text string) turn { return reply(llm.Reply{Text: text, Finish: llm.FinishStop}) }

func reply(r llm.Reply) turn {
	return func(ctx context.Context, c clock.Clock) (llm.Reply, error) { return r, c.Sleep(ctx, time.Second) }
}

func fail(context.Context, clock.Clock) (llm.Reply, error) {
	return llm.Reply{}, &llm.Error{Kind: llm.Unavailable, Backend: "fake", Status: 503}
}

func hang(ctx context.Context, c clock.Clock) (llm.Reply, error) {
	return llm.Reply{}, c.Sleep(ctx, clock.Forever)
}

// rig is a run with a scripted backend on a virtual clock. Its judge is as simple
// as can be: each line "left: X" is a step that is left, "left: X after Y" one
// that depends on another, and "refuse" and "ask" are a verdict without steps.
type rig struct {
	options  followup.Options
	deps     followup.Deps
	clock    *clock.Virtual
	turns    []turn
	requests []llm.Request
	events   []event.Event
	judged   []string
}

func newRig(o followup.Options, turns ...turn) *rig {
	r := &rig{options: o, turns: turns, clock: clock.NewVirtual()}
	r.deps = followup.Deps{
		Backend: llm.BackendFunc(r.complete), BackendID: "fake", Clock: r.clock, Judge: r.judge,
		Sink: event.SinkFunc(func(e event.Event) { r.events = append(r.events, e) }),
	}
	return r
}

func (r *rig) complete(ctx context.Context, req llm.Request) (llm.Reply, error) {
	r.requests = append(r.requests, req)
	if len(r.requests) > len(r.turns) {
		return llm.Reply{}, &llm.Error{Kind: llm.ScriptExhausted, Backend: "fake"}
	}
	return r.turns[len(r.requests)-1](ctx, r.clock)
}

func (r *rig) judge(_ context.Context, answer string) stop.Verdict {
	r.judged = append(r.judged, answer)
	v := stop.Verdict{MayStop: true, Policy: stop.Balanced, Class: stop.Clean, Reason: "nothing is left"}
	for line := range strings.Lines(answer) {
		name, is := strings.CutPrefix(strings.TrimSpace(line), "left: ")
		if !is {
			continue
		}
		name, needs, waits := strings.Cut(name, " after ")
		s := stop.Step{ID: "id-" + name, Description: name, Category: stop.RemainingTasks}
		if waits {
			s.DependsOn = []string{"id-" + needs}
		}
		v.Steps = append(v.Steps, s)
	}
	if len(v.Steps) > 0 || strings.Contains(answer, "refuse") {
		v.MayStop, v.Class, v.Reason = false, stop.Defers, "work is left"
		v.Detections = []stop.Detection{{Category: stop.RemainingTasks, Real: true}}
	} else if strings.Contains(answer, "ask") {
		v.Class = stop.Asks
	}
	return v
}

func (r *rig) run(answer string) followup.Outcome {
	return followup.Run(context.Background(), r.options, r.deps, llm.Reply{Text: answer})
}

// told are the events of a kind.
func (r *rig) told(kind event.Kind) []event.Event {
	return slices.DeleteFunc(slices.Clone(r.events), func(e event.Event) bool { return e.Kind != kind })
}

// prompt is the last message of call n, from 1.
func (r *rig) prompt(n int) string {
	GinkgoHelper()
	Expect(len(r.requests)).To(BeNumerically(">=", n), "calls")
	messages := r.requests[n-1].Messages
	return messages[len(messages)-1].Content
}

// states are the todos of an outcome by description.
func states(out followup.Outcome) map[string]followup.State {
	m := map[string]followup.State{}
	for _, t := range out.Todos {
		m[t.Description] = t.State
	}
	return m
}
