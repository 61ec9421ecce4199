package measure

// ReactTotals adds up what ReAct agents did. The zero value is ready.
type ReactTotals struct {
	sum       ReactFacts
	runs      int // trials with a ReAct agent
	done      int
	refused   int // steps, by whatever rule
	actions   int
	failed    int
	escalated int
	handed    int // delegations
}

// Add adds a trial. One without a ReAct agent does not count.
func (t *ReactTotals) Add(f Facts) {
	in := &f.React
	if in.Iterations+in.Asked == 0 {
		return
	}
	t.runs++
	if f.Run.Status == "done" || f.Run.Status == "complete" {
		t.done++
	}
	t.refused += total(in.Refused)
	t.actions += total(in.Actions)
	t.failed += total(in.Failed)
	t.escalated += total(in.Triggers)
	t.handed += total(in.Delegations)
	s := &t.sum
	s.Iterations += in.Iterations
	s.Reflections += in.Reflections
	s.Complacent += in.Complacent
	s.Verifications += in.Verifications
	s.Unverified += in.Unverified
	s.Asked += in.Asked
	s.Stuck += in.Stuck
	s.Cut += in.Cut
}

// Close returns the measures; nil if there was no ReAct agent. It may be called
// again, also after further Adds.
func (t *ReactTotals) Close() []Value {
	if t.runs == 0 {
		return nil
	}
	s := &t.sum
	return []Value{
		rate("react_done_rate", t.done, t.runs),
		rate("react_refused_step_rate", t.refused, s.Iterations),
		rate("react_complacent_rate", s.Complacent, s.Reflections),
		rate("react_failed_action_rate", t.failed, t.actions),
		rate("react_unverified_rate", s.Unverified, s.Verifications),
		summed("react_iterations", s.Iterations, t.runs),
		summed("react_actions", t.actions, t.runs),
		summed("react_questions", s.Asked, t.runs),
		summed("react_escalations", t.escalated, t.runs),
		summed("react_delegations", t.handed, t.runs),
		summed("react_cut_delegations", s.Cut, t.runs),
		summed("react_stuck", s.Stuck, t.runs),
	}
}
