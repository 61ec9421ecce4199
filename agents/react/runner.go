package react

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/rehearse-dev/rehearse/agents/internal/run"
	"github.com/rehearse-dev/rehearse/agents/react/action"
	"github.com/rehearse-dev/rehearse/agents/react/agentfile"
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/llm"
)

// phase is the kind of document that is expected next.
type phase string

const (
	phaseAct     phase = "act"
	phaseReflect phase = "reflect"
	phaseVerify  phase = "verify"
	phaseRevise  phase = "revise"
)

// final reports whether the agent has decided to end.
func (p phase) final() bool { return p == phaseVerify || p == phaseRevise }

// runner runs one agent.
type runner struct {
	*session
	agent *agentfile.Agent
	task  Task
	chain []string // of ids, from the first agent to this one
	max   int      // iterations; an answer of a person raises it
	limit int      // iterations at the beginning
	set   action.Set
	tools *toolset // nil for the interface "yaml"

	phase    phase
	n        int    // iterations begun
	entry    *Entry // of the current iteration; nil between iterations
	dialogue dialogue
	answer   answer

	observed  string // the observation to reflect on
	stuck     stuck
	final     final
	revisions int
	seen      []string // observations and touched files, to which an output may refer
	written   []string // files that this agent changed
}

// newRunner returns the runner of an agent, which is the last one of the chain.
func newRunner(s *session, a *agentfile.Agent, t Task, chain []string) *runner {
	r := &runner{session: s, agent: a, task: t, chain: chain, max: a.MaxIterations, phase: phaseAct}
	if r.max < 1 {
		r.max = defaultIterations
	}
	r.limit = r.max
	r.stuck.limit = s.options.Stuck
	return r
}

// depth returns 0 for the first agent, and 1 for an agent that it delegates to.
func (r *runner) depth() int { return len(r.chain) - 1 }

// run runs the agent, and emits the guard or the question that ended it.
func (r *runner) run() *ending {
	end := r.work()
	r.close()
	end.agent = cmp.Or(end.agent, r.agent.ID)
	if end.reported {
		return end
	}
	end.reported = true
	if end.Guard != "" {
		r.guard(end.Guard, end.Details)
	}
	if end.Status == StatusEscalate {
		r.emit(oneLine(end.question), AskedPerson{Trigger: string(end.trigger)})
	}
	return end
}

// work prepares the agent and loops. A panic of a dependency ends it.
func (r *runner) work() (end *ending) {
	defer func() {
		if p := recover(); p != nil {
			end = panicked(p)
		}
	}()
	if end := r.prepare(); end != nil {
		return end
	}
	return r.loop()
}

// prepare checks the task and the agent and starts the dialogue.
func (r *runner) prepare() *ending {
	if end := r.task.checkFor(r.agent); end != nil {
		return end
	}
	if err := r.agent.Contract.CheckOutput([]byte("null")); err != nil && !errors.Is(err, agentfile.ErrNoMatch) {
		return invalidEnding(ErrAgent, err) // the schema is not valid
	}
	set, err := r.deps.Actions(r.agent)
	if err != nil {
		return invalidEnding(ErrAgent, fmt.Errorf("prepare the actions of %s: %w", r.agent.ID, err))
	}
	r.set = set
	if r.options.Interface == ByTools {
		r.tools = newToolset(set.Declare(), r.agent.Contract.Output)
	}
	r.begin()
	return nil
}

// begin starts the dialogue.
func (r *runner) begin() {
	r.dialogue = dialogue{system: r.system(), turns: []turn{{prompt: r.task.prompt(r.agent) + "\n\n" + r.wanted()}}}
}

// loop runs iterations until there is an ending.
func (r *runner) loop() *ending {
	for {
		if end := r.turn(); end != nil && !r.resume(end) {
			return end
		}
	}
}

// turn makes a call if the last answer is used up, and handles the next documents.
func (r *runner) turn() *ending {
	if r.entry == nil && r.n == r.max {
		return r.exhausted()
	}
	if r.answer.empty() {
		if end := r.ask(); end != nil {
			return end
		}
	}
	r.open()
	return r.handleAnswer()
}

// handleAnswer handles the next documents of the answer, which is not empty.
func (r *runner) handleAnswer() *ending {
	if doc := r.answer.takeTrigger(); doc != nil {
		r.entry.Thought = cmp.Or(r.entry.Thought, doc.Thought)
		return r.escalate(Trigger(doc.Trigger), doc.Thought)
	}
	switch r.phase {
	case phaseAct:
		return r.handleAct()
	case phaseReflect:
		return r.handleReflection()
	default:
		return r.handleEnd(true)
	}
}

// ask makes one call and parses the answer.
func (r *runner) ask() *ending {
	if end := r.Over(); end != nil {
		return toEnding(end)
	}
	if end := r.askBefore("call"); end != nil {
		return end
	}
	if end := r.Reserve(); end != nil {
		return toEnding(end)
	}
	r.open()
	reply, err := r.Complete(r.Context, r.request())
	if end := r.Limits(); end != nil {
		return toEnding(end)
	}
	if err != nil && r.rejectsTools(err) {
		r.writeYAML()
		return r.ask()
	}
	if err != nil {
		err = fmt.Errorf("call the backend for %s, iteration %d: %w", r.agent.ID, r.n, err)
		return toEnding(run.Failed(err))
	}
	calls := reply.ToolCalls
	if r.tools == nil {
		calls = nil // an API rejects calls of tools that were not declared
	}
	r.dialogue.addAnswer(reply.Text, calls)
	r.entry.Skipped += max(0, len(calls)-1)
	r.answer = r.read(reply)
	return nil
}

// askBefore asks the caller whether the next call or action may be made.
func (r *runner) askBefore(kind string) *ending {
	if r.deps.Before == nil {
		return nil
	}
	if err := r.deps.Before(kind); err != nil {
		return toEnding(&run.Ending{Status: statusStopped, Details: fmt.Sprintf("stopped before the next %s: %s", kind, err), Err: err})
	}
	return nil
}

func (r *runner) request() llm.Request {
	req := llm.Request{
		Purpose: "react", Model: cmp.Or(r.options.Model, r.agent.Model), Messages: r.dialogue.messages(),
		Tags: map[string]string{
			"phase": string(r.phase), "agent": r.agent.ID, "iteration": strconv.Itoa(r.n), "depth": strconv.Itoa(r.depth()),
		},
	}
	if r.tools != nil {
		req.Tools = r.tools.declared
	}
	return req
}

// open begins an iteration if there is no current one.
func (r *runner) open() {
	if r.entry != nil {
		return
	}
	r.n++
	r.entry = &Entry{N: r.n, Agent: r.agent.ID, Depth: r.depth(), At: r.Elapsed()}
	r.transcript = append(r.transcript, r.entry)
}

// close ends the current iteration, if there is one.
func (r *runner) close() {
	e := r.entry
	if e == nil {
		return
	}
	r.entry = nil
	r.deps.Sink.Emit(event.New(e.N, oneLine(cmp.Or(e.Fault, e.Reason)), Iterated{
		Agent: e.Agent, Action: e.Action, Decision: e.Decision, Refused: e.Refused, Depth: e.Depth, Skipped: e.Skipped,
	}))
	if r.deps.OnIteration != nil {
		r.deps.OnIteration(*e)
	}
}

// refuse ends the iteration and asks for its step again.
func (r *runner) refuse(bad *refusal) *ending {
	r.answer = answer{}
	r.entry.Refused, r.entry.Fault = bad.rule, bad.String()
	if bad.rule == ruleComplacent {
		r.emit(bad.String(), Complacent{Refused: true})
	} else {
		r.guard(bad.guard(), bad.String())
	}
	r.close()
	if r.phase.final() {
		r.final.problem = bad.String()
	}
	r.dialogue.ask(refusalPrompt(bad, r.wanted()), "")
	return nil
}

// exhausted returns the ending of an agent without iterations left.
func (r *runner) exhausted() *ending {
	if r.phase.final() && r.final.output != nil {
		return r.endPartial(r.final.missing())
	}
	return &ending{
		Ending: run.Ending{
			Status: StatusEscalate, Guard: string(Iterations),
			Details: fmt.Sprintf("stopped after %d iterations without an end (max_iterations %d)", r.n, r.max),
		},
		trigger:  Iterations,
		question: fmt.Sprintf("%s did not finish in %d iterations. How should it go on? Its last thought: %s", r.agent.ID, r.n, r.lastThought()),
	}
}

func (r *runner) lastThought() string {
	for _, e := range slices.Backward(r.transcript) {
		if e.Agent == r.agent.ID && e.Thought != "" {
			return oneLine(e.Thought)
		}
	}
	return "(none)"
}

// guard emits the event of a guard.
func (r *runner) guard(name, detail string) {
	r.deps.Sink.Emit(event.Event{Kind: event.Guard, Name: name, N: r.n, Detail: detail})
}

func (r *runner) emit(detail string, p event.Payload) { r.deps.Sink.Emit(event.New(r.n, detail, p)) }
