package work

import (
	"context"
	"errors"
	"strconv"

	"github.com/rehearse-dev/rehearse/agents/loop"
	"github.com/rehearse-dev/rehearse/agents/persist"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
	"github.com/rehearse-dev/rehearse/llm"
)

// maxCarry is the largest note to the next attempt, in characters.
const maxCarry = 4000

// looper is a runner loop as a worker.
type looper struct {
	options  loop.Options
	language loop.Language // of the plan
	caps     llm.Caps      // of the whole run
	dep      Deps
}

// Work implements persist.Worker.
func (l *looper) Work(ctx context.Context, a persist.Assignment) persist.Outcome {
	settings, err := resolved(l.options, a.Prompt, l.language)
	if err != nil {
		return persist.Outcome{Grade: persist.Blocked, Details: "the settings of the loop are not valid: " + err.Error()}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	backend := newMetered(l.dep, a, cancel)
	r := loop.Run(ctx, settings, loop.Deps{
		Backend:        backend,
		BackendID:      l.dep.BackendID,
		Conversational: l.dep.Conversational,
		Clock:          l.dep.Clock,
		Sink:           inner(l.dep.Sink, a),
		Price:          l.dep.Price,
		EURPerUSD:      l.dep.EURPerUSD,
		Shared:         l.dep.Budget,
		Session:        l.session(a),
		Turn:           a.Turn,
		OnSession: func(id string) {
			if a.Began != nil {
				a.Began(persist.Session{Agent: l.dep.BackendID, Session: llm.Session{ID: id}})
			}
		},
	})
	out := l.grade(r, settings.Budget, backend.lastAnswer())
	out.Answer, out.Prose, out.Inert = r.Text, r.Prose, l.dep.Inert
	out.Usage, out.Used = backend.spent(), backend.ledger.used()
	if r.Session != nil {
		out.Session = &persist.Session{Agent: l.dep.BackendID, Session: *r.Session}
	}
	return out
}

// session returns the session that an attempt continues, or nil. Another agent does not have it.
func (l *looper) session(a persist.Assignment) *llm.Session {
	if a.Session == nil || a.Session.Agent != l.dep.BackendID {
		return nil
	}
	return &a.Session.Session
}

// grade returns the outcome of a loop. An incomplete attempt may be repeated, unless the permissions of
// the agent refused a tool call, which they would refuse again. The unfinished answer is passed to the
// next attempt.
func (l *looper) grade(r loop.Result, own llm.Caps, unfinished string) persist.Outcome {
	left := carry(r, unfinished, l.language)
	switch {
	case r.Status == loop.StatusDone:
		return persist.Outcome{Grade: persist.Done, Details: r.Details}
	case r.Status == loop.StatusBlocked: // the agent needs a person, or a permission
		return persist.Outcome{Grade: persist.Escalated, Details: r.Details}
	case r.Status == loop.StatusError, r.Status == loop.StatusLimited:
		return failed(r.Err, r.Details, left)
	case r.Status == loop.StatusInterrupted:
		return ended(r.Err, left)
	case r.Status == loop.StatusBudget && r.Completed && len(r.Denials) == 0:
		return persist.Outcome{Grade: persist.Done, Details: "completed with the answer that used the budget up"}
	case r.Status == loop.StatusBudget:
		out := persist.Outcome{Grade: persist.Failed, Details: r.Details, Carry: left}
		if e, ok := errors.AsType[*llm.BudgetError](r.Err); ok && l.shared(e, own) {
			out.Capped = e.Cap
		}
		return out
	case len(r.Denials) > 0:
		return persist.Outcome{
			Grade: persist.Escalated, Carry: left,
			Details: r.Details + "; the agent's permissions refused " + llm.DescribeDenials(r.Denials),
		}
	default:
		return persist.Outcome{Grade: persist.Failed, Details: r.Details, Carry: left}
	}
}

// shared reports whether a cap is that of the whole run, and not of the loop, which is for one
// attempt. If both are equal, it is that of the run.
func (l *looper) shared(e *llm.BudgetError, own llm.Caps) bool {
	return limit(l.caps, e.Cap) == e.Limit || limit(own, e.Cap) != e.Limit
}

func limit(caps llm.Caps, name string) string {
	switch name {
	case "calls":
		return strconv.Itoa(caps.Calls)
	case "tokens":
		return strconv.Itoa(caps.Tokens)
	}
	return caps.Cost.String()
}

// carry returns the note for the next attempt: the summary, the last answer, or an unfinished answer.
func carry(r loop.Result, unfinished string, in loop.Language) string {
	last, cutOff := "The last answer was:\n", "The last answer was cut off. It ended so:\n"
	if in == loop.French {
		last, cutOff = "La dernière réponse était :\n", "La dernière réponse a été coupée. Elle se terminait ainsi :\n"
	}
	switch {
	case r.Summary != "":
		return sanitize.Text(r.Summary, maxCarry)
	case r.Text != "":
		return last + end(sanitize.Text(r.Text, 0), maxCarry)
	case unfinished != "":
		return cutOff + end(sanitize.Text(unfinished, 0), maxCarry)
	}
	return ""
}

func end(text string, limit int) string {
	r := []rune(text)
	if len(r) <= limit {
		return text
	}
	return "…" + string(r[len(r)-limit+1:])
}
