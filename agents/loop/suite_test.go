package loop_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gleak"

	"github.com/rehearse-dev/rehearse/agents/loop"
	"github.com/rehearse-dev/rehearse/agents/stop"
	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/llm"
)

func TestLoop(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "agents/loop")
}

var _ = BeforeEach(func() {
	before := gleak.Goroutines()
	DeferCleanup(func() { Eventually(gleak.Goroutines).ShouldNot(gleak.HaveLeaked(before)) })
})

// turn answers one call of a backend.
type turn func(ctx context.Context, c clock.Clock) (llm.Reply, error)

// say answers with a text after one second.
func say(text string) turn { return sayIn(time.Second, text) }

func sayIn(latency time.Duration, text string) turn {
	return answer(latency, llm.Reply{Text: text, Finish: llm.FinishStop})
}

func answer(latency time.Duration, reply llm.Reply) turn {
	return func(ctx context.Context, c clock.Clock) (llm.Reply, error) {
		return reply, c.Sleep(ctx, latency)
	}
}

// fail fails at once.
func fail(kind llm.ErrorKind, message string) turn {
	return func(context.Context, clock.Clock) (llm.Reply, error) {
		return llm.Reply{}, &llm.Error{Kind: kind, Backend: "fake", Message: message}
	}
}

// hang never answers.
func hang(ctx context.Context, c clock.Clock) (llm.Reply, error) {
	return llm.Reply{}, c.Sleep(ctx, clock.Forever)
}

// all makes turns of texts.
func all(texts ...string) []turn {
	turns := make([]turn, len(texts))
	for i, text := range texts {
		turns[i] = say(text)
	}
	return turns
}

// rig is a run with a backend of given turns, on a virtual clock. A call that no
// turn answers fails as a scripted backend's does.
type rig struct {
	options  loop.Options
	file     loop.Options
	deps     loop.Deps
	clock    *clock.Virtual
	turns    []turn
	requests []llm.Request
	events   []event.Event
	mu       sync.Mutex
}

func newRig(o loop.Options, turns ...turn) *rig {
	if o.Prompt == "" {
		o.Prompt = "Task"
	}
	r := &rig{options: o, turns: turns, clock: clock.NewVirtual()}
	r.deps = loop.Deps{
		Backend: r, BackendID: "fake", Clock: r.clock,
		Sink: event.SinkFunc(func(e event.Event) { r.events = append(r.events, e) }),
	}
	return r
}

func (r *rig) Complete(ctx context.Context, req llm.Request) (llm.Reply, error) {
	r.mu.Lock()
	n := len(r.requests)
	r.requests = append(r.requests, req)
	r.mu.Unlock()
	if n >= len(r.turns) {
		return llm.Reply{}, &llm.Error{Kind: llm.ScriptExhausted, Backend: "fake"}
	}
	return r.turns[n](ctx, r.clock)
}

func (r *rig) run() loop.Result { return r.runIn(context.Background()) }

func (r *rig) runIn(ctx context.Context) loop.Result {
	GinkgoHelper()
	s, err := loop.Resolve(loop.FailFast(r.options, r.file), loop.Options{Contract: loop.NoContract, Timeout: within(5 * time.Minute)})
	Expect(err).NotTo(HaveOccurred())
	return loop.Run(ctx, s, r.deps)
}

// emitted returns the events of a kind.
func (r *rig) emitted(kind event.Kind) []event.Event {
	return slices.DeleteFunc(slices.Clone(r.events), func(e event.Event) bool { return e.Kind != kind })
}

// sent returns the contents of the messages of call n, from 1.
func (r *rig) sent(n int) []string {
	var texts []string
	for _, m := range r.requests[n-1].Messages {
		texts = append(texts, m.Content)
	}
	return texts
}

// refuse returns a judge that refuses the first n completions.
func refuse(n int, steps ...string) func(_, _ string) stop.Verdict {
	return func(_, _ string) stop.Verdict {
		n--
		v := stop.Verdict{MayStop: n < 0, Reason: "tests are missing"}
		for _, s := range steps {
			v.Steps = append(v.Steps, stop.Step{ID: "id-" + s, Description: s})
		}
		return v
	}
}
