// Package followup makes an agent do what its last message leaves undone: plan, todos, execution through a backend, and a new judgement of the new answer, within bounds.
package followup
