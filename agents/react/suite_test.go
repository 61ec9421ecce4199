package react_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gleak"

	"github.com/rehearse-dev/rehearse/agents/react"
	"github.com/rehearse-dev/rehearse/agents/react/action"
	"github.com/rehearse-dev/rehearse/agents/react/agentfile"
	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/llm/openai"
	"github.com/rehearse-dev/rehearse/mocks"
)

func TestReact(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "agents/react")
}

var _ = BeforeEach(func() {
	before := gleak.Goroutines()
	DeferCleanup(func() { Eventually(gleak.Goroutines).ShouldNot(gleak.HaveLeaked(before)) })
})

// The documents of answers. Each script below contains answers that a model might write.
const (
	found     = "src/login.go:12 calls eval with user input"
	searching = "thought: |\n  The code base is unknown to me, so I look for eval first.\naction: search\naction_input:\n  query: eval\n"
	reading   = "thought: |\n  Line 12 is suspicious; I read around it.\naction: analyze\naction_input:\n  target: src/login.go\n"
	goingOn   = "reflection: |\n  src/login.go:12 calls eval; mitigations are still open.\ndecision: continue\nreason: mitigations are open\n"
	finished  = "reflection: |\n  src/login.go:12 calls eval with user input, and nothing guards it.\ndecision: done\nreason: confirmed\n"
	pleased   = "reflection: It went well, I go on.\ndecision: continue\nreason: fine\n"
	verified  = "verification:\n  completeness: ✓ the code was searched for eval\n  consistency: ✓ src/login.go is in the code base\n  correctness: ✓ line 12 was read\n  constraints: ✓ 1 of at most ten findings\n"
	doubtful  = "verification:\n  completeness: ✗ the imports were not looked at\n  consistency: ✓ src/login.go is in the code base\n  correctness: ✓ line 12 was read\n  constraints: ✓ none is broken\n"
	alarming  = "thought: A key is in the log.\ntrigger: security-risk\n"
	report    = "One finding: eval in src/login.go:12."
)

// docs joins documents to an answer.
func docs(documents ...string) string { return strings.Join(documents, "---\n") }

// ended is an answer that ends a run well.
var ended = docs(finished, verified, report)

// deciding returns a reflection with a decision and further keys.
func deciding(decision string, keys ...string) string {
	return "reflection: |\n  src/login.go:12 calls eval with user input.\ndecision: " + decision + "\nreason: because of line 12\n" +
		strings.Join(append(keys, ""), "\n")
}

// doing returns a step with an action.
func doing(action, input string) string {
	return "thought: This is the next thing to do.\naction: " + action + "\naction_input:\n" + input + "\n"
}

// scripted does actions: the observation of each by its id, or found.
type scripted struct {
	results map[string]action.Result
	done    []string
	stall   func(ctx context.Context) error
}

func (s *scripted) Do(ctx context.Context, id, input string) (action.Result, error) {
	s.done = append(s.done, id)
	if s.stall != nil {
		if err := s.stall(ctx); err != nil {
			return action.Result{}, err
		}
	}
	if r, ok := s.results[id]; ok {
		return r, nil
	}
	return action.Result{Observation: found, Read: []string{"src/login.go"}}, nil
}

func (*scripted) Describe() string { return "- search {query}: look for text" }

func (*scripted) Declare() []action.Declaration {
	return []action.Declaration{
		{ID: "search", Description: "look for text", Inputs: []byte(`{"type":"object","properties":{"query":{"type":"string"}},"required":["query"]}`)},
		{ID: "files.read", Description: "read a file", Inputs: []byte(`{"type":"object","properties":{"path":{"type":"string"}}}`)},
		{ID: "note", Description: "write a note", Inputs: []byte(`{"type":"object","properties":{"thought":{"type":"string"}}}`)},
	}
}

// person answers questions.
type person func(question, context string) (string, bool)

func (p person) Ask(_ context.Context, question, context string) (string, bool) {
	return p(question, context)
}

// say returns the line of a script that answers with a text after one second.
func say(text string) mocks.Line {
	if text == "" {
		text = string(mocks.EmptyText)
	}
	line := mocks.Say(text)
	line.Latency = &mocks.Latency{First: mocks.Duration(time.Second)}
	return line
}

// rig is a run with a scripted backend on a virtual clock.
type rig struct {
	agent    *agentfile.Agent
	task     react.Task
	options  react.Options
	deps     react.Deps
	clock    *clock.Virtual
	set      *scripted
	turns    []mocks.Line
	backend  llm.Backend // plays turns; made by the first call
	requests []llm.Request
	events   []event.Event
	mu       sync.Mutex
}

func newRig(answers ...string) *rig {
	r := &rig{
		agent: &agentfile.Agent{ID: "auditor", Body: "You audit code.", MaxIterations: 5, Contract: agentfile.Contract{
			Inputs:      []agentfile.Input{{Name: "code", Required: true, Description: "the folder"}, {Name: "focus"}},
			Constraints: []string{"at most ten findings"},
		}},
		task:  react.Task{Do: "Audit the code.", Input: map[string]any{"code": "src"}},
		clock: clock.NewVirtual(), set: &scripted{results: map[string]action.Result{}},
	}
	for _, a := range answers {
		r.turns = append(r.turns, say(a))
	}
	r.deps = react.Deps{
		Backend: r, BackendID: "openai", Clock: r.clock,
		Sink:    event.SinkFunc(func(e event.Event) { r.events = append(r.events, e) }),
		Actions: func(*agentfile.Agent) (action.Set, error) { return r.set, nil },
	}
	return r
}

// Complete passes a request to the scripted backend.
func (r *rig) Complete(ctx context.Context, req llm.Request) (llm.Reply, error) {
	r.mu.Lock()
	r.requests = append(r.requests, req)
	r.mu.Unlock()
	if r.backend == nil {
		program, err := mocks.Compile(mocks.Script{Replies: r.turns})
		if err != nil {
			return llm.Reply{}, err
		}
		r.backend, err = openai.New(openai.Config{
			BaseURL: "http://127.0.0.1/v1", Clock: r.clock, Retry: openai.RetryPolicy{Max: -1},
			Transport: mocks.NewTransport(mocks.NewEngine(program, mocks.EngineOptions{Clock: r.clock})),
		})
		if err != nil {
			return llm.Reply{}, err
		}
	}
	return r.backend.Complete(ctx, req)
}

func (r *rig) run() react.Result { return r.runIn(context.Background()) }

func (r *rig) runIn(ctx context.Context) react.Result {
	return react.Run(ctx, r.agent, r.task, r.options, r.deps)
}

// emitted returns the events of a kind, or of a kind and name.
func (r *rig) emitted(kind event.Kind, name ...string) []event.Event {
	return slices.DeleteFunc(slices.Clone(r.events), func(e event.Event) bool {
		return e.Kind != kind || len(name) > 0 && e.Name != name[0]
	})
}

// asked returns the last message of call n, from 1.
func (r *rig) asked(n int) string {
	GinkgoHelper()
	Expect(len(r.requests)).To(BeNumerically(">=", n), "calls")
	messages := r.requests[n-1].Messages
	return messages[len(messages)-1].Content
}

// phases returns the phases of all calls.
func (r *rig) phases() string {
	var all []string
	for _, req := range r.requests {
		all = append(all, req.Tags["phase"])
	}
	return strings.Join(all, " ")
}

// refused returns the rules of the transcript, "" for a step that was accepted.
func refused(res react.Result) []string {
	var all []string
	for _, e := range res.Transcript {
		all = append(all, e.Refused)
	}
	return all
}

var errTest = errors.New("for a test")

type (
	agentOf   = agentfile.Agent
	contextOf = context.Context
)

func noActions(*agentfile.Agent) (action.Set, error) { return nil, errTest }

// setFunc lets a function be a set of actions.
type setFunc func(id string) action.Result

func (f setFunc) Do(_ context.Context, id, _ string) (action.Result, error) { return f(id), nil }

func (setFunc) Describe() string { return "" }

func (setFunc) Declare() []action.Declaration { return nil }
