package react

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/agents/internal/run"
	"github.com/rehearse-dev/rehearse/agents/react/action"
	"github.com/rehearse-dev/rehearse/agents/react/agentfile"
	"github.com/rehearse-dev/rehearse/agents/react/step"
	"github.com/rehearse-dev/rehearse/internal/suggest"
)

// delegateInput is the input of the action delegate.
type delegateInput struct {
	AgentID string         `yaml:"agent_id"`
	Task    string         `yaml:"task"`
	Input   map[string]any `yaml:"input,omitempty"`
}

// obstacle is why a delegation does not come about.
type obstacle struct {
	rule    string
	message string
}

// outside reports whether the agent is only not here: somebody else may have it.
func (o *obstacle) outside() bool { return o.rule == ruleUnknownTo }

// guarded reports whether a guard of the engine cut the delegation.
func (o *obstacle) guarded() bool { return o.rule == guardCycle || o.rule == guardDepth }

// way returns what is in the way of a delegation from the last agent of the chain; nil
// if nothing is.
func way(agents map[string]*agentfile.Agent, from *agentfile.Agent, chain []string, to string, depth int) *obstacle {
	switch {
	case slices.Contains(chain, to):
		return &obstacle{guardCycle, "the delegation would go round in a circle: " + strings.Join(append(slices.Clone(chain), to), " → ")}
	case len(from.Delegates) > 0 && !slices.Contains(from.Delegates, to):
		return &obstacle{ruleDelegate, fmt.Sprintf("%s may not delegate to %q%s; it may to %s",
			from.ID, line(to), meant(to, from.Delegates), strings.Join(from.Delegates, ", "))}
	case agents[to] == nil:
		known := slices.Sorted(maps.Keys(agents))
		return &obstacle{ruleUnknownTo, fmt.Sprintf("there is no agent %q here%s", line(to), meant(to, known))}
	case len(chain) > depth:
		return &obstacle{guardDepth, fmt.Sprintf("the delegation would be deeper than %d: %s", depth, strings.Join(append(slices.Clone(chain), to), " → "))}
	}
	return nil
}

func meant(word string, known []string) string {
	if near := suggest.Nearest(word, known); near != "" {
		return fmt.Sprintf(" (did you mean %q?)", near)
	}
	return ""
}

// delegateAction runs another agent and returns with what it came to.
func (r *runner) delegateAction(doc *step.Document) (action.Result, *ending) {
	var in delegateInput
	if bad := decode(doc.Input, &in); bad != nil {
		return *bad, nil
	}
	if no := way(r.dep.Agents, r.agent, r.chain, in.AgentID, r.opt.Depth); no != nil {
		if no.guarded() {
			r.guard(no.rule, no.message)
		}
		return action.Result{Failed: true, Rule: no.rule, Observation: no.message}, nil
	}
	end := r.delegate(in.AgentID, in.Task, in.Input)
	if end.fatal() {
		return action.Result{}, end
	}
	return came(in.AgentID, end), nil
}

// handOver follows the decision delegate: the other agent's end becomes this
// one's.
func (r *runner) handOver(doc *step.Document) *ending {
	no := way(r.dep.Agents, r.agent, r.chain, doc.AgentID, r.opt.Depth)
	switch {
	case no == nil:
		r.close()
		return r.delegate(doc.AgentID, cmp.Or(doc.Task, r.task.Do), nil)
	case no.outside():
		r.emitHandOver(doc.AgentID, StatusDelegate, doc.Reason)
		return &ending{
			Ending: run.Ending{
				Status:  StatusDelegate,
				Details: fmt.Sprintf("handed over to %s: %s", line(doc.AgentID), line(cmp.Or(doc.Task, doc.Reason))),
			},
			to: doc.AgentID,
		}
	case no.guarded():
		return ended(&run.Ending{Status: StatusBlocked, Guard: no.rule, Details: no.message})
	}
	return r.refuse(refuseAt(doc.Pos, no.rule, "%s", no.message))
}

// delegate runs another agent, which shares the workspace, the budgets and the
// time with this one. Inputs that both contracts name are handed on.
func (r *runner) delegate(to, do string, input map[string]any) *ending {
	a := r.dep.Agents[to]
	t := Task{Do: do, Input: map[string]any{}}
	for _, name := range names(a.Contract) {
		if v, ok := r.task.Input[name]; ok {
			t.Input[name] = v
		}
	}
	maps.Copy(t.Input, input)
	end := newRunner(r.session, a, t, append(slices.Clone(r.chain), to)).run()
	r.emitHandOver(to, end.Status, end.Details)
	return end
}

func (r *runner) emitHandOver(to string, status Status, why string) {
	if status == statusStopped {
		status = StatusError
	}
	r.emit(line(why), Delegated{To: to, Depth: r.depth() + 1, Status: string(status)})
}

// came returns what a delegation came to, for the agent that delegated.
func came(to string, end *ending) action.Result {
	res := action.Result{Failed: end.Status != StatusDone && end.Status != StatusPartial}
	if res.Failed {
		res.Rule = ruleDelegateEnd
	}
	var b strings.Builder
	fmt.Fprintf(&b, "The agent %s ended with the status %s: %s", cmp.Or(end.agent, to), end.Status, line(end.Details))
	if end.question != "" {
		fmt.Fprintf(&b, "\nIt asks: %s", line(end.question))
	}
	for _, m := range end.missing {
		fmt.Fprintf(&b, "\nMissing: %s", line(m))
	}
	if end.output != "" {
		fmt.Fprintf(&b, "\nIts output:\n%s", end.output)
	}
	res.Observation = b.String()
	return res
}
