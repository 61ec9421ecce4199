package react

import "cmp"

// resume continues an agent that would end with a question or an obstacle if a person answers. The answer
// is the result of the last step, and the agent has its number of iterations anew.
func (r *runner) resume(end *ending) bool {
	if r.deps.Answer == nil || end.reported || end.Status != StatusEscalate && end.Status != StatusBlocked {
		return false
	}
	question := cmp.Or(end.question, end.Details)
	answer, ok := r.deps.Answer(r.Context, question)
	if !ok || r.Over() != nil {
		return false
	}
	if end.Guard != "" {
		r.guard(end.Guard, end.Details)
	}
	r.emit(oneLine(question), AskedPerson{Trigger: string(end.trigger), Answered: true})
	if r.entry != nil {
		r.entry.Answer = bounded(answer, maxQuestion)
	}
	r.close()
	r.max = r.n + r.limit
	r.dropAnswer()
	r.phase, r.observed, r.final = phaseAct, "", final{}
	r.stuck = stuck{limit: r.options.Stuck}
	r.seen = append(r.seen, answer)
	r.dialogue.ask(answerPrompt(answer)+"\n\n"+r.wanted(), "")
	return true
}

// dropAnswer drops the unused documents of the model's answer.
func (r *runner) dropAnswer() { r.answer = answer{} }
