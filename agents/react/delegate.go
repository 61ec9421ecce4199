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

// obstacle is the reason why a delegation is not possible.
type obstacle struct {
	rule    string
	message string
}

// isUnknownAgent reports whether the agent is not in Deps.Agents. The caller may know it.
func (o *obstacle) isUnknownAgent() bool { return o.rule == ruleUnknownTo }

// isGuard reports whether a guard of the engine stopped the delegation.
func (o *obstacle) isGuard() bool { return o.rule == guardCycle || o.rule == guardDepth }

// checkDelegation returns the obstacle to a delegation from the last agent of the chain, or
// nil.
func checkDelegation(agents map[string]*agentfile.Agent, from *agentfile.Agent, chain []string, to string, depth int) *obstacle {
	switch {
	case slices.Contains(chain, to):
		return &obstacle{guardCycle, "the delegation would go round in a circle: " + strings.Join(append(slices.Clone(chain), to), " → ")}
	case len(from.Delegates) > 0 && !slices.Contains(from.Delegates, to):
		return &obstacle{ruleDelegate, fmt.Sprintf("%s may not delegate to %q%s; it may to %s",
			from.ID, oneLine(to), suggest.Hint(to, from.Delegates), strings.Join(from.Delegates, ", "))}
	case agents[to] == nil:
		known := slices.Sorted(maps.Keys(agents))
		return &obstacle{ruleUnknownTo, fmt.Sprintf("there is no agent %q here%s", oneLine(to), suggest.Hint(to, known))}
	case len(chain) > depth:
		return &obstacle{guardDepth, fmt.Sprintf("the delegation would be deeper than %d: %s",
			depth, strings.Join(append(slices.Clone(chain), to), " → "))}
	}
	return nil
}

// delegateAction runs another agent and returns its result.
func (r *runner) delegateAction(doc *step.Document) (action.Result, *ending) {
	var in delegateInput
	if failed := decodeInput(doc.Input, &in); failed != nil {
		return *failed, nil
	}
	if bad := checkDelegation(r.deps.Agents, r.agent, r.chain, in.AgentID, r.options.Depth); bad != nil {
		if bad.isGuard() {
			r.guard(bad.rule, bad.message)
		}
		return action.Result{Failed: true, Rule: bad.rule, Observation: bad.message}, nil
	}
	end := r.delegate(in.AgentID, in.Task, in.Input)
	if end.fatal() {
		return action.Result{}, end
	}
	return delegationResult(in.AgentID, end), nil
}

// handOver follows the decision delegate: the other agent ends the run.
func (r *runner) handOver(doc *step.Document) *ending {
	bad := checkDelegation(r.deps.Agents, r.agent, r.chain, doc.AgentID, r.options.Depth)
	switch {
	case bad == nil:
		r.close()
		return r.delegate(doc.AgentID, cmp.Or(doc.Task, r.task.Do), nil)
	case bad.isUnknownAgent():
		r.emitHandOver(doc.AgentID, StatusDelegate, doc.Reason)
		return &ending{
			Ending: run.Ending{
				Status:  StatusDelegate,
				Details: fmt.Sprintf("handed over to %s: %s", oneLine(doc.AgentID), oneLine(cmp.Or(doc.Task, doc.Reason))),
			},
			to: doc.AgentID,
		}
	case bad.isGuard():
		return toEnding(&run.Ending{Status: StatusBlocked, Guard: bad.rule, Details: bad.message})
	}
	return r.refuse(refuseAt(doc.Pos, bad.rule, "%s", bad.message))
}

// delegate runs another agent with the same workspace, budgets and timeout. It passes the inputs that
// both contracts have.
func (r *runner) delegate(to, do string, input map[string]any) *ending {
	a := r.deps.Agents[to]
	t := Task{Do: do, Input: map[string]any{}}
	for _, name := range inputNames(a.Contract) {
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
	r.emit(oneLine(why), Delegated{To: to, Depth: r.depth() + 1, Status: string(status)})
}

// delegationResult returns the result of a delegation for the agent that delegated.
func delegationResult(to string, end *ending) action.Result {
	res := action.Result{Failed: end.Status != StatusDone && end.Status != StatusPartial}
	if res.Failed {
		res.Rule = ruleDelegateEnd
	}
	var b strings.Builder
	fmt.Fprintf(&b, "The agent %s ended with the status %s: %s", cmp.Or(end.agent, to), end.Status, oneLine(end.Details))
	if end.question != "" {
		fmt.Fprintf(&b, "\nIt asks: %s", oneLine(end.question))
	}
	for _, m := range end.missing {
		fmt.Fprintf(&b, "\nMissing: %s", oneLine(m))
	}
	if end.output != "" {
		fmt.Fprintf(&b, "\nIts output:\n%s", end.output)
	}
	res.Observation = b.String()
	return res
}
