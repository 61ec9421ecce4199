package loop

import (
	"context"
	"fmt"
	"maps"
	"strings"

	"github.com/rehearse-dev/rehearse/agents/internal/completion"
	"github.com/rehearse-dev/rehearse/agents/stop"
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/llm"
)

// guardPolicies are the values of Settings.StopGuard.
var guardPolicies = []GuardPolicy{GuardOff, GuardPolicy(stop.Balanced), GuardPolicy(stop.Strict)}

// textGuard is the stop guard that reads what the agent says.
type textGuard struct{ policy stop.Policy }

// Judge implements StopGuard. A summary is part of what is said: in json mode it
// is often all of it.
func (g textGuard) Judge(_ context.Context, a Answer) (Ruling, error) {
	said := strings.TrimSpace(a.Prose + "\n\n" + a.Summary)
	v := stop.Judge(said, stop.Options{Policy: g.policy, Point: stop.FinalAnswer})
	order := v.Order()
	return Ruling{
		Allow: v.MayStop, Reason: v.Reason, Steps: order.Steps, NeedsUser: order.NeedsUser, NeedsApproval: v.NeedsApproval,
		Language: v.Language, Attrs: v.Attrs(),
	}, nil
}

// complete asks the stop guard about an answer that says done.
func (r *runner) complete(n int, reply llm.Reply, summary string) *ending {
	r.result.Completed = true
	if len(r.result.Denials) > 0 {
		return denied(n, r.result.Denials)
	}
	done := &ending{status: StatusDone, details: fmt.Sprintf("completed in iteration %d", n)}
	if r.dep.Stop == nil {
		return done
	}
	ruling, err := r.dep.Stop.Judge(r.ctx, Answer{
		N: n, Prompt: r.set.Prompt, Text: reply.Text, Prose: r.prose(reply.Text), Summary: summary, Continuations: r.refusals,
	})
	if end := r.limits(); end != nil {
		return end
	}
	if err != nil {
		// A guard that fails must not trap the agent.
		ruling = Ruling{Allow: true, Reason: "allowed, as the stop guard failed: " + err.Error()}
	}
	if !ruling.Allow {
		r.refusals++
	}
	capped := r.refusals > r.set.ContinuationLimit
	r.tellRuling(n, reply.Text, ruling, capped)
	switch {
	case ruling.Allow:
		return done
	case capped:
		return &ending{
			status: StatusCapped, guard: "continuation_limit",
			details: fmt.Sprintf("stopped at refusal %d of the completion by the stop guard (continuation_limit %d): %s",
				r.refusals, r.set.ContinuationLimit, ruling.Reason),
		}
	}
	r.refused[reply.Text] = true
	r.dialogue.insist(reply.Text, ruling)
	return nil
}

// denied is the end by an answer that says done although permissions refused tool
// calls of the run: the work that they were for may be missing.
func denied(n int, denials []llm.Denial) *ending {
	return &ending{
		status: StatusBlocked, guard: "permissions",
		details: fmt.Sprintf("the agent says in iteration %d that it is done, but its permissions refused %s", n, llm.DescribeDenials(denials)),
	}
}

// said is what an answer says beside being done, with its summary in json mode, where
// that is often all of it. In marker mode a summary is the reason of a hand-over.
func (r *runner) said(answer, summary string) string {
	if r.set.Mode != JSON {
		summary = ""
	}
	return strings.TrimSpace(strings.TrimSpace(r.prose(answer)) + "\n\n" + summary)
}

// prose is what an answer says beside being done.
func (r *runner) prose(answer string) string {
	if r.set.Mode == JSON {
		return completion.ObjectProse(answer)
	}
	return completion.Markers{Done: r.set.Marker}.Prose(answer)
}

// tellRuling tells what the stop guard decided and what came of it: whether the
// run is forced to go on, and how many of the steps of the refusal before the answer
// reports as done.
func (r *runner) tellRuling(n int, answer string, ruling Ruling, capped bool) {
	attrs := map[string]any{}
	maps.Copy(attrs, ruling.Attrs)
	attrs["allow"], attrs["steps"] = ruling.Allow, len(ruling.Steps)+len(ruling.NeedsUser)
	attrs["forced"] = !ruling.Allow && !capped
	attrs["executed"] = stop.Executed(r.left, answer)
	r.left = ruling.Steps
	r.dep.Sink.Tell(event.Event{Kind: event.Verdict, Name: "stop", N: n, Detail: ruling.Reason, Attrs: attrs})
}
