package loop

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/agents/internal/run"
	"github.com/rehearse-dev/rehearse/agents/stop"
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/llm"
)

// complete asks the stop guard about a finished answer, and then runs the checks.
func (r *runner) complete(n int, reply llm.Reply, summary string) *run.Ending {
	r.result.Completed = true
	if len(r.result.Denials) > 0 {
		return denied(n, r.result.Denials)
	}
	done := &run.Ending{Status: StatusDone, Details: fmt.Sprintf("completed in iteration %d", n)}
	if r.dep.judge == nil {
		return r.verify(n, reply.Text, done)
	}
	v := r.dep.judge(r.set.Prompt, r.judgedText(reply.Text, summary))
	if r.set.Todos != "" {
		v = r.todos.settle(reply.Text, v)
	}
	if !v.MayStop {
		r.refusals++
	}
	capped := r.refusals > r.set.ContinuationLimit
	r.emitVerdict(n, reply.Text, v, capped)
	if end := r.refuse(reply.Text, v, capped); end != nil {
		return end
	}
	order := v.Order()
	if r.set.Todos != "" {
		order.Steps = stop.Texts(r.todos.next(!v.MayStop))
	}
	if v.MayStop && (r.set.Todos == "" || len(order.Steps) == 0) {
		return r.verify(n, reply.Text, done)
	}
	r.left = order.Steps
	r.dialogue.insist(reply.Text, v, order)
	return nil
}

// refuse counts a refused completion. It returns the ending if there were too many, or too many in a
// row that leave the same steps.
func (r *runner) refuse(answer string, v stop.Verdict, capped bool) *run.Ending {
	if v.MayStop {
		return nil
	}
	same, limit := r.same.Next(leaves(answer, v.Steps)), r.set.SameStepsLimit
	switch {
	case capped:
		return &run.Ending{
			Status: StatusCapped, Guard: "continuation_limit",
			Details: fmt.Sprintf("stopped at refusal %d of the completion by the stop guard (continuation_limit %d): %s",
				r.refusals, r.set.ContinuationLimit, v.Reason),
		}
	case limit > 0 && same >= limit:
		return stuck("same_steps_limit", limit, fmt.Sprintf("%d refused completions in a row that leave the same steps", same))
	}
	r.refused[answer] = true
	return nil
}

// leaves identifies the work that a refused answer leaves: the ids of its steps, or without steps the
// answer without numbers, times and spacing.
func leaves(answer string, steps []stop.Step) string {
	if len(steps) == 0 {
		return run.Near(answer)
	}
	ids := make([]string, len(steps))
	for i, s := range steps {
		ids[i] = s.ID
	}
	slices.Sort(ids)
	return strings.Join(ids, " ")
}

// denied returns the ending of a run whose answer claims completion although permissions refused
// tool calls, whose work may be missing.
func denied(n int, denials []llm.Denial) *run.Ending {
	return &run.Ending{
		Status: StatusBlocked, Guard: "permissions",
		Details: fmt.Sprintf("the agent says in iteration %d that it is done, but its permissions refused %s", n, llm.DescribeDenials(denials)),
	}
}

// deniedAgain returns the ending of a run whose agent repeats a tool call that its permissions deny.
func deniedAgain(n, limit int, denials []llm.Denial) *run.Ending {
	return &run.Ending{
		Status: StatusBlocked, Guard: "denial_limit",
		Details: fmt.Sprintf("stopped at iteration %d, the second in a row that ended at a tool whose calls are denied (denial_limit %d): "+
			"the permissions refused %s", n, limit, llm.DescribeDenials(denials)),
	}
}

// judgedText returns the text that the stop guard judges: the prose of an answer, and in json mode,
// where there is often no other text, its summary. In marker mode a summary is the reason for a
// hand-over.
func (r *runner) judgedText(answer, summary string) string {
	if r.set.Mode != JSON {
		summary = ""
	}
	return strings.TrimSpace(strings.TrimSpace(r.prose(answer)) + "\n\n" + summary)
}

// prose returns an answer without its marker or JSON object.
func (r *runner) prose(answer string) string {
	if r.set.Mode == JSON {
		return objectProse(answer)
	}
	return markers{done: r.set.Marker}.prose(answer)
}

// emitVerdict emits the verdict of the stop guard, with the number of steps of the last prompt that
// the answer reports as done.
func (r *runner) emitVerdict(n int, answer string, v stop.Verdict, capped bool) {
	j, executed := v.Judgement(), stop.Executed(r.left, answer)
	j.Forced, j.Executed = !v.MayStop && !capped, &executed
	r.left = nil
	r.dep.Sink.Emit(event.New(n, v.Reason, j))
}
