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

// phase is what the engine waits for.
type phase string

const (
	toAct     phase = "act"
	toReflect phase = "reflect"
	toVerify  phase = "verify"
	toRevise  phase = "revise"
)

// final reports whether the decision to end was taken.
func (p phase) final() bool { return p == toVerify || p == toRevise }

// runner is one agent at work.
type runner struct {
	*session
	agent *agentfile.Agent
	task  Task
	chain []string // of ids, from the first agent to this one
	max   int
	set   action.Set

	phase  phase
	n      int    // iterations begun
	entry  *Entry // of the iteration that is going on; nil between two
	talk   dialogue
	answer answer

	observed  string // what is to be reflected on
	stuck     stuck
	final     final
	revisions int
	// seen are the files that were read and written, and the observations: what an output may refer to.
	seen []string
	// written are the files that this agent changed.
	written []string
}

// newRunner makes the runner of an agent, which the chain ends with.
func newRunner(s *session, a *agentfile.Agent, t Task, chain []string) *runner {
	r := &runner{session: s, agent: a, task: t, chain: chain, max: a.MaxIterations, phase: toAct}
	if r.max < 1 {
		r.max = defaultIterations
	}
	r.stuck.limit = s.opt.Stuck
	return r
}

// depth is 0 for the agent that was run, 1 for one that it delegates to.
func (r *runner) depth() int { return len(r.chain) - 1 }

// run runs the agent to its end, and tells why where that is no part of an
// iteration.
func (r *runner) run() *ending {
	end := r.work()
	r.close()
	end.agent = cmp.Or(end.agent, r.agent.ID)
	if end.told {
		return end
	}
	end.told = true
	if end.Guard != "" {
		r.guard(end.Guard, end.Details)
	}
	if end.Status == StatusEscalate {
		r.emit(line(end.question), AskedPerson{Trigger: string(end.trigger)})
	}
	return end
}

// work prepares the agent and loops. A panic of what it is given is its end.
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

// prepare returns why the first call must not be made.
func (r *runner) prepare() *ending {
	if end := r.task.against(r.agent); end != nil {
		return end
	}
	if err := r.agent.Contract.CheckOutput([]byte("null")); err != nil && !errors.Is(err, agentfile.ErrNoMatch) {
		return invalid(ErrAgent, err) // a schema that cannot be used
	}
	set, err := r.dep.Actions(r.agent)
	if err != nil {
		return invalid(ErrAgent, fmt.Errorf("prepare the actions of %s: %w", r.agent.ID, err))
	}
	r.set = set
	r.talk = dialogue{system: r.system(), turns: []turn{{prompt: r.task.prompt(r.agent)}}}
	return nil
}

// loop goes on until there is an ending.
func (r *runner) loop() *ending {
	for {
		if r.entry == nil && r.n == r.max {
			return r.exhausted()
		}
		if r.answer.empty() {
			if end := r.ask(); end != nil {
				return end
			}
		}
		r.open()
		if end := r.take(); end != nil {
			return end
		}
	}
}

// take uses the next documents of the answer, which is not empty.
func (r *runner) take() *ending {
	if doc := r.answer.alarm(); doc != nil {
		r.entry.Thought = cmp.Or(r.entry.Thought, doc.Thought)
		return r.escalate(Trigger(doc.Trigger), doc.Thought)
	}
	switch r.phase {
	case toAct:
		return r.takeAct()
	case toReflect:
		return r.takeReflection()
	default:
		return r.takeFinal()
	}
}

// ask makes one call and reads the answer.
func (r *runner) ask() *ending {
	if end := r.Over(); end != nil {
		return ended(end)
	}
	if end := r.before("call"); end != nil {
		return end
	}
	if end := r.Reserve(); end != nil {
		return ended(end)
	}
	r.open()
	reply, err := r.Complete(r.Context, r.request())
	if end := r.Limits(); end != nil {
		return ended(end)
	}
	if err != nil {
		err = fmt.Errorf("call the backend for %s, iteration %d: %w", r.agent.ID, r.n, err)
		return ended(run.Failed(err))
	}
	r.talk.said(reply.Text)
	r.answer = read(reply, r.phase.final() && r.final.verified)
	return nil
}

// before asks the caller whether the next call or action may be made.
func (r *runner) before(kind string) *ending {
	if r.dep.Before == nil {
		return nil
	}
	if err := r.dep.Before(kind); err != nil {
		return ended(&run.Ending{Status: statusStopped, Details: fmt.Sprintf("stopped before the next %s: %s", kind, err), Err: err})
	}
	return nil
}

func (r *runner) request() llm.Request {
	return llm.Request{
		Purpose: "react", Model: cmp.Or(r.opt.Model, r.agent.Model), Messages: r.talk.messages(),
		Tags: map[string]string{
			"phase": string(r.phase), "agent": r.agent.ID, "iteration": strconv.Itoa(r.n), "depth": strconv.Itoa(r.depth()),
		},
	}
}

// open begins an iteration if none is going on.
func (r *runner) open() {
	if r.entry != nil {
		return
	}
	r.n++
	r.entry = &Entry{N: r.n, Agent: r.agent.ID, Depth: r.depth(), At: r.Elapsed()}
	r.transcript = append(r.transcript, r.entry)
}

// close ends the iteration that is going on, if one is.
func (r *runner) close() {
	e := r.entry
	if e == nil {
		return
	}
	r.entry = nil
	r.dep.Sink.Emit(event.New(e.N, line(cmp.Or(e.Fault, e.Reason)), Iterated{
		Agent: e.Agent, Action: e.Action, Decision: e.Decision, Refused: e.Refused, Depth: e.Depth,
	}))
	if r.dep.OnIteration != nil {
		r.dep.OnIteration(*e)
	}
}

// refuse ends the iteration and has its step asked for again.
func (r *runner) refuse(no *refusal) *ending {
	r.answer = answer{}
	r.entry.Refused, r.entry.Fault = no.rule, no.String()
	if no.rule == ruleComplacent {
		r.emit(no.String(), Complacent{Refused: true})
	} else {
		r.guard(no.guard(), no.String())
	}
	r.close()
	if r.phase.final() {
		r.final.lack = no.String()
	}
	r.talk.ask(refused(no, r.wanted()), "")
	return nil
}

// exhausted returns the end of an agent without an iteration left.
func (r *runner) exhausted() *ending {
	if r.phase.final() && r.final.output != nil {
		return r.partial(r.final.missing())
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
			return line(e.Thought)
		}
	}
	return "(none)"
}

// guard reports that a guard refused or ended something.
func (r *runner) guard(name, detail string) {
	r.dep.Sink.Emit(event.Event{Kind: event.Guard, Name: name, N: r.n, Detail: detail})
}

// emit reports an event of the iteration.
func (r *runner) emit(detail string, p event.Payload) { r.dep.Sink.Emit(event.New(r.n, detail, p)) }
