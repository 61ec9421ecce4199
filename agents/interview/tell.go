package interview

import (
	"cmp"
	"fmt"
	"log/slog"
	"strings"

	"github.com/rehearse-dev/rehearse/agents/interview/prompt"
	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/llm"
)

// The names of the guards in events.
const (
	guardTransport  = "transport-retry"
	guardValidation = "validation-retry"
	guardExhausted  = "exhausted"
	guardTrimmed    = "trimmed"
	guardOver       = "history-over"
	guardLost       = "lost-call"
	guardRepeated   = "repeated"
	guardRefused    = "refused"
	guardUsage      = "usage-differs"
	guardFallback   = "fallback"
	guardLimit      = "session-limit"
)

// told returns how a submission ended, and returns that.
func (t *step) told(v View, failed *Error) (View, *Error) {
	t.tellSubmission(v, failed)
	return v, failed
}

func (t *step) tellSubmission(v View, failed *Error) {
	attrs := map[string]any{
		"calls": t.calls, "queued": t.queued, "answered": t.answered, "repeated": t.repeated, "code": "",
	}
	detail := ""
	if failed != nil {
		attrs["code"], detail = string(failed.Code), failed.Message
		if failed.View != nil {
			v = *failed.View
		} else {
			v.QuestionIndex = session.NoQuestion
		}
		if failed.Code == CodeStore {
			t.log(slog.LevelError, "store failed", "error", t.anonymous(failed.Err))
		}
	}
	attrs["step"], attrs["phase"] = string(v.Step), string(t.stored.Phase)
	attrs["kind"], attrs["question"] = string(v.Kind), v.QuestionIndex
	if t.repeated {
		t.dep.Sink.Emit(event.Event{Kind: event.Guard, Name: guardRepeated, Detail: "the submission had been received before"})
	}
	t.dep.Sink.Emit(event.Event{
		Kind: event.Iteration, Name: "submission", N: int(t.submissions.Add(1)), Detail: detail, Attrs: attrs,
	})
}

// tellCommit tells what waited for a commit, of the commit, and what changed since
// before.
func (t *step) tellCommit(before session.Session) {
	for _, e := range t.pending {
		t.dep.Sink.Emit(e)
	}
	t.pending = nil
	now := t.stored
	t.dep.Sink.Emit(event.Event{Kind: event.Checkpoint, Name: "commit", Attrs: map[string]any{"version": int(now.Version)}})
	if before.Step != now.Step || before.Phase != now.Phase {
		t.dep.Sink.Emit(event.Event{Kind: event.State, Name: "interview", Attrs: map[string]any{
			"step": string(now.Step), "phase": string(now.Phase), "block": now.Step.Block(),
		}})
	}
	if before.Step != now.Step && now.Step.Block() > 0 && now.Step != session.Matching {
		t.log(slog.LevelInfo, "block started")
	}
	if t.queued {
		t.log(slog.LevelInfo, "question served from queue", "question", now.Queue.Cursor)
	}
	if now.Phase == session.Finished {
		t.dep.Sink.Emit(event.Event{Kind: event.End, Name: "interview"})
	}
}

// tellBegun tells what is peculiar about a call that begins.
func (t *step) tellBegun(entry session.Call, built prompt.Built) {
	if entry.Trimmed > 0 {
		t.tellGuard(guardTrimmed, entry, fmt.Sprintf("%d of %d messages were left out", entry.Trimmed, entry.Sent+entry.Trimmed))
	}
	if built.Over {
		t.tellGuard(guardOver, entry, "what must go along is larger than the limit of the history")
	}
}

// tellCall tells how a call ended and what follows.
func (t *step) tellCall(entry session.Call, a answer, next verdict) {
	t.logCall(entry)
	switch {
	case a.failure == nil:
		t.tellValidated(entry, a)
	case a.failure.Kind == llm.Refused:
		t.tellGuard(guardRefused, entry, entry.Detail)
	}
	if entry.Disagrees() {
		t.tellGuard(guardUsage, entry, fmt.Sprintf("the backend reports %d tokens, and %d were counted", entry.Reported.Total(), entry.Counted.Total()))
	}
	switch {
	case next.again && a.failure != nil:
		t.tellGuard(guardTransport, entry, fmt.Sprintf("%s; again after %s", entry.Fault, next.wait))
	case next.again:
		t.tellGuard(guardValidation, entry, entry.Detail)
	case next.fallback:
		// told with the text that takes its place
	case next.failed != nil:
		t.tellGuard(guardExhausted, entry, entry.Detail)
		t.log(slog.LevelError, "message failed", "purpose", entry.Purpose, "code", next.failed.Code, "attempts", entry.Attempt)
	}
}

func (t *step) tellValidated(entry session.Call, a answer) {
	t.pending = append(t.pending, event.Event{Kind: event.Verdict, Name: "validator", N: entry.N, Detail: a.findings(maxDetail), Attrs: map[string]any{
		"purpose": string(entry.Purpose), "step": string(entry.Step), "valid": a.result.Valid(),
		"warnings": len(entry.Warnings), "rule": a.rule(),
	}})
}

func (t *step) tellGuard(name string, entry session.Call, detail string) {
	t.pending = append(t.pending, event.Event{Kind: event.Guard, Name: name, N: entry.N, Detail: detail, Attrs: map[string]any{
		"purpose": string(entry.Purpose), "step": string(entry.Step),
	}})
}

// tellFallback emits an event: a text of the prompts was shown instead of the model's.
func (t *step) tellFallback(last session.Call) {
	t.tellGuard(guardFallback, last, last.Detail)
	t.log(slog.LevelWarn, "fallback text shown", "purpose", last.Purpose, "rule", last.Fault, "attempts", last.Attempt)
}

// tellLimit emits an event: the session has reached a limit.
func (t *step) tellLimit(limit, message string) {
	t.tellGuard(guardLimit, session.Call{N: t.now.Calls, Purpose: t.now.Owed.Purpose, Step: t.now.Step}, "the session has used "+message)
	t.log(slog.LevelError, "session limit reached", "limit", limit, "calls", t.now.Calls, "retries", t.now.Retries)
}

// logCall says for operators what a call took (I-16). What was said is no part of
// it: findings may quote it.
func (t *step) logCall(entry session.Call) {
	used, level, cost := entry.Used(), slog.LevelInfo, "unknown"
	if entry.Cost != nil {
		cost = entry.Cost.String()
	}
	if entry.Outcome == session.Broken || entry.Outcome == session.Rejected {
		level = slog.LevelWarn
	}
	t.log(level, "call", "n", entry.N, "purpose", entry.Purpose, "attempt", entry.Attempt, "outcome", entry.Outcome,
		"fault", entry.Fault, "input", used.Total()-used.Output, "output", used.Output, "cost", cost,
		"latency_s", entry.Latency.Seconds(), "model", entry.Model)
}

// logMade says for operators what an accepted reply brought (I-16).
func (t *step) logMade(entry session.Call, questions int) {
	switch entry.Purpose {
	case session.PurposeQuestions:
		t.log(slog.LevelInfo, "questions generated", "call", entry.N, "questions", questions)
	case session.PurposeAdaptive:
		t.log(slog.LevelInfo, "questions generated", "call", entry.N, "questions", 1)
	case session.PurposeMirror:
		t.log(slog.LevelInfo, "mirror generated", "call", entry.N)
	}
}

// anonymous returns an error without the session's id, which those of stores name.
func (t *step) anonymous(err error) string {
	id := cmp.Or(t.now.ID, t.request.Session)
	return strings.ReplaceAll(fmt.Sprint(err), id, short(id))
}

// log writes a line that says whose interview it is and where that stands. The
// session is named by the beginning of its id: whoever knows all of it may take
// the interview.
func (t *step) log(level slog.Level, message string, attrs ...any) {
	t.dep.Log.Log(t.ctx, level, message, append([]any{
		"candidate", t.stored.Candidate, "session", short(t.stored.ID),
		"step", t.stored.Step, "block", t.stored.Step.Block(), "part", t.stored.Step.Part(),
	}, attrs...)...)
}

func short(id string) string { return id[:min(len(id), 8)] }
