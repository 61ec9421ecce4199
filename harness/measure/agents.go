package measure

import "slices"

// AgentTotals accumulates what only one kind of agent has. The zero value is ready.
type AgentTotals struct {
	guard     GuardTotals
	interview InterviewTotals
	supervise SuperviseTotals
	react     ReactTotals
}

// Add adds a trial.
func (t *AgentTotals) Add(f Facts) {
	t.guard.Add(f.Guard)
	t.interview.Add(f)
	t.supervise.Add(f)
	t.react.Add(f)
}

// Close returns the measures. It may be called again, also after further Adds.
func (t *AgentTotals) Close() AgentMetrics {
	return AgentMetrics{
		Guard: t.guard.Close(), Interview: t.interview.Close(),
		Supervise: t.supervise.Close(), React: t.react.Close(),
	}
}

// AgentMetrics are measures by the kind of agent; nil for one that no trial had.
type AgentMetrics struct {
	// Guard are those of stop guards, over all trials in which one judged an answer.
	Guard []Value `json:"guard,omitempty"`
	// Interview are those of interviews.
	Interview []Value `json:"interview,omitempty"`
	// Supervise are those of supervisors.
	Supervise []Value `json:"supervise,omitempty"`
	// React are those of ReAct agents.
	React []Value `json:"react,omitempty"`
}

// All are all of them in one list.
func (m AgentMetrics) All() []Value {
	return slices.Concat(m.Guard, m.Interview, m.Supervise, m.React)
}
