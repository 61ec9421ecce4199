package followup

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/agents/stop"
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/llm"
)

// round executes the steps that a verdict leaves and returns what was answered
// and the verdict on it.
func (r *run) round(n int, v stop.Verdict) (string, stop.Verdict, *ending) {
	steps := stop.NewPlan(ordered(v.Steps)).Order
	r.todos.enter(n, steps)
	round := Round{N: n, Todos: ids(steps), At: r.elapsed()}
	var answers []string
	var verdicts []stop.Verdict
	var end *ending
	for rest := steps; end == nil; {
		var batch []stop.Step
		if batch, rest = r.batch(rest); len(batch) == 0 && len(steps) > 0 {
			break // all that is left is blocked
		}
		var reply llm.Reply
		if reply, end = r.execute(n, batch, v); end == nil {
			answers = append(answers, reply.Text)
			verdicts = append(verdicts, r.settle(reply, batch, rest))
		}
		if len(rest) == 0 {
			break
		}
	}
	round.Answer = strings.Join(answers, "\n\n")
	round.Duration = r.elapsed() - round.At
	r.out.Rounds = append(r.out.Rounds, round)
	r.tellRound(n, steps, len(answers), end)
	if end != nil {
		return "", stop.Verdict{}, end
	}
	return round.Answer, r.conclude(verdicts, steps), nil
}

// ordered are the steps that an agent may be ordered to do: all except the ones that only the
// user decides on.
func ordered(steps []stop.Step) []stop.Step {
	return slices.DeleteFunc(slices.Clone(steps), func(s stop.Step) bool { return s.NeedsUser })
}

// batch takes the steps of the next call from those that are to be done. Steps
// that wait for one that failed are blocked and passed over.
func (r *run) batch(steps []stop.Step) (batch, rest []stop.Step) {
	if !r.PerTodo {
		return steps, nil
	}
	for i, s := range steps {
		if !r.todos.blocked(s) {
			return steps[i : i+1], steps[i+1:]
		}
		r.todos.move(s.ID, Blocked)
	}
	return nil, nil
}

// execute makes one call for the steps of a batch.
func (r *run) execute(n int, batch []stop.Step, v stop.Verdict) (llm.Reply, *ending) {
	if end := r.limits(); end != nil {
		return llm.Reply{}, end
	}
	if end := overspent(r.caller.Reserve()); end != nil {
		return llm.Reply{}, end
	}
	for _, s := range batch {
		r.todos.move(s.ID, InProgress)
	}
	r.sent = append(r.sent, llm.Message{Role: llm.User, Content: prompt(batch, v)})
	r.out.Calls++
	reply, err := r.caller.Complete(r.ctx, llm.Request{Purpose: "followup", Model: r.Model, Messages: slices.Clip(r.sent)})
	if err == nil {
		r.out.Answer = reply.Text
		r.hear(reply.Text)
		return reply, nil
	}
	for _, s := range batch {
		r.todos.move(s.ID, Failed)
	}
	if end := r.limits(); end != nil {
		return reply, end
	}
	return reply, &ending{status: StatusError, details: fmt.Sprintf("the call of round %d failed: %s", n, err), err: err}
}

// open begins the conversation with the task and the answer.
func (r *run) open(answer string) {
	if r.System != "" {
		r.sent = append(r.sent, llm.Message{Role: llm.System, Content: r.System})
	}
	task := r.Task
	if task == "" {
		task = opening
	}
	r.sent = append(r.sent, llm.Message{Role: llm.User, Content: task})
	r.hear(answer)
}

// hear adds an answer to the conversation. An empty one said nothing, and some
// providers refuse an empty message, so the prompt before it is taken back.
func (r *run) hear(answer string) {
	if strings.TrimSpace(answer) != "" {
		r.sent = append(r.sent, llm.Message{Role: llm.Assistant, Content: tail(answer)})
		return
	}
	if r.out.Calls > 0 {
		r.sent = r.sent[:len(r.sent)-1]
	}
}

// settle says of each step of a batch whether the answer leaves it, and judges
// the answer. Steps that are still to come in this round are not left.
func (r *run) settle(reply llm.Reply, batch, rest []stop.Step) stop.Verdict {
	if why := unfinished(reply); why != "" {
		for _, s := range batch {
			r.todos.move(s.ID, Pending)
		}
		return stop.Verdict{Policy: r.Policy, Reason: why}
	}
	v := r.Judge(r.ctx, reply.Text)
	if v.MayStop {
		v.Steps = nil
	}
	said, reported := readAnswer(reply.Text), stop.Done(stop.Texts(batch), reply.Text)
	var listed []stop.Step
	for k, s := range batch {
		i := slices.IndexFunc(v.Steps, func(left stop.Step) bool { return similar(left, s) })
		switch {
		case i >= 0:
			listed = append(listed, s)
			r.todos.move(s.ID, Pending)
		case said.denies(s):
			r.todos.move(s.ID, Failed)
		case reported[k]:
			r.todos.move(s.ID, Done)
		default: // not a word of it
			r.todos.move(s.ID, Pending)
		}
	}
	announced := len(v.Steps)
	known := slices.Concat(listed, rest)
	fresh := slices.DeleteFunc(slices.Clone(v.Steps), func(left stop.Step) bool {
		return slices.ContainsFunc(known, func(s stop.Step) bool { return similar(left, s) })
	})
	v.Steps = slices.Concat(listed, fresh)
	if announced > 0 && len(v.Steps) == 0 {
		// All that the answer announces comes next in this round.
		v.MayStop, v.Reason = true, "what is announced is about to be done"
	}
	return v
}

// unfinished says why an answer settles nothing; empty if it does.
func unfinished(reply llm.Reply) string {
	switch {
	case reply.Finish == llm.FinishLength || reply.Finish == llm.FinishContentFilter:
		return fmt.Sprintf("the answer was cut off (finish reason %s)", reply.Finish)
	case strings.TrimSpace(reply.Text) == "":
		return "the answer is empty"
	}
	return ""
}

// conclude makes one verdict of those of a round's answers: the last one's, with
// all that is left. Todos that are not done are left too, whatever the verdicts
// say, unless the agent may stop to ask the user.
func (r *run) conclude(verdicts []stop.Verdict, steps []stop.Step) stop.Verdict {
	last := len(verdicts) - 1
	v := verdicts[last]
	v.Steps = nil
	add := func(s stop.Step) {
		if !slices.ContainsFunc(v.Steps, func(have stop.Step) bool { return have.ID == s.ID }) {
			v.Steps = append(v.Steps, s)
		}
	}
	for i, earlier := range verdicts {
		if i < last && !earlier.MayStop {
			v.MayStop, v.Reason = false, earlier.Reason
		}
		for _, s := range earlier.Steps {
			add(s)
		}
	}
	open := slices.DeleteFunc(slices.Clone(steps), func(s stop.Step) bool { return r.todos.get(s.ID).State == Done })
	if v.MayStop && (v.Class == stop.Asks || len(open) == 0) {
		return v
	}
	if v.MayStop {
		v.MayStop, v.Reason = false, fmt.Sprintf("%d of %d todos are not reported as done", len(open), len(steps))
	}
	for _, s := range open {
		add(s)
	}
	return v
}

func (r *run) tellRound(n int, steps []stop.Step, answered int, end *ending) {
	done := 0
	for _, s := range steps {
		if r.todos.get(s.ID).State == Done {
			done++
		}
	}
	attrs := map[string]any{"ok": end == nil, "calls": answered, "todos": len(steps), "done": done}
	e := event.Event{Kind: event.Iteration, N: n, Attrs: attrs}
	if end != nil {
		e.Detail = end.details
	}
	r.Sink.Tell(e)
}

func ids(steps []stop.Step) []string {
	out := make([]string, len(steps))
	for i, s := range steps {
		out[i] = s.ID
	}
	return out
}
