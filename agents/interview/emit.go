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

// finish reports how a submission ended, and returns v and failed unchanged.
func (t *step) finish(v View, failed *Error) (View, *Error) {
	submitted := Submitted{
		Calls: t.calls, Queued: t.queued, Answered: t.answered, Repeated: t.repeated, Phase: string(t.stored.Phase),
	}
	shown, detail := v, ""
	if failed != nil {
		submitted.Code, detail = string(failed.Code), failed.Message
		if failed.View != nil {
			shown = *failed.View
		} else {
			shown.QuestionIndex = session.NoQuestion
		}
		if failed.Code == CodeStore {
			t.log(slog.LevelError, "store failed", "error", t.withoutID(failed.Err))
		}
	}
	submitted.Step, submitted.Kind, submitted.Question = string(shown.Step), string(shown.Kind), shown.QuestionIndex
	if t.repeated {
		t.dep.Sink.Emit(event.Event{Kind: event.Guard, Name: "repeated", Detail: "the submission had been received before"})
	}
	t.dep.Sink.Emit(event.New(int(t.dep.Submissions.Add(1)), detail, submitted))
	return v, failed
}

// emitCommit emits the pending events, the commit, and the changes since before.
func (t *step) emitCommit(before session.Session) {
	for _, e := range t.pending {
		t.dep.Sink.Emit(e)
	}
	t.pending = nil
	now := t.stored
	t.dep.Sink.Emit(event.New(0, "", Committed{Version: int(now.Version)}))
	if before.Step != now.Step || before.Phase != now.Phase {
		t.dep.Sink.Emit(event.New(0, "", Moved{Step: string(now.Step), Phase: string(now.Phase), Block: now.Step.Block()}))
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

// deferBegun defers the events about the history of a request until the next commit.
func (t *step) deferBegun(entry session.Call, built prompt.Built) {
	if entry.Trimmed > 0 {
		t.deferGuard("trimmed", entry, fmt.Sprintf("%d of %d messages were left out", entry.Trimmed, entry.Sent+entry.Trimmed))
	}
	if built.Over {
		t.deferGuard("history-over", entry, "what must go along is larger than the limit of the history")
	}
}

// deferCall logs how a call ended, and defers its events until the next commit.
func (t *step) deferCall(entry session.Call, r callResult, next decision) {
	t.logCall(entry)
	switch {
	case r.failure == nil:
		t.deferValidated(entry, r)
	case r.failure.Kind == llm.Refused:
		t.deferGuard("refused", entry, entry.Detail)
	}
	if entry.Disagrees() {
		t.deferGuard("usage-differs", entry,
			fmt.Sprintf("the backend reports %d tokens, and %d were counted", entry.Reported.Total(), entry.Counted.Total()))
	}
	switch {
	case next.again && r.failure != nil:
		t.deferGuard("transport-retry", entry, fmt.Sprintf("%s; again after %s", entry.Fault, next.wait))
	case next.again:
		t.deferGuard("validation-retry", entry, entry.Detail)
	case next.failed != nil:
		t.deferGuard("exhausted", entry, entry.Detail)
		t.log(slog.LevelError, "message failed", "purpose", entry.Purpose, "code", next.failed.Code, "attempts", entry.Attempt)
	}
}

func (t *step) deferValidated(entry session.Call, r callResult) {
	t.pending = append(t.pending, event.New(entry.N, r.findings(), Validated{
		Purpose: string(entry.Purpose), Step: string(entry.Step), Valid: r.checked.Valid(),
		Warnings: len(entry.Warnings), Rule: r.rule(),
	}))
}

func (t *step) deferGuard(name string, entry session.Call, detail string) {
	t.pending = append(t.pending, event.New(entry.N, detail, guarded{
		Name: name, Purpose: string(entry.Purpose), Step: string(entry.Step),
	}))
}

// deferFallback defers the event that a fallback text was shown instead of the model's.
func (t *step) deferFallback(last session.Call) {
	t.deferGuard("fallback", last, last.Detail)
	t.log(slog.LevelWarn, "fallback text shown", "purpose", last.Purpose, "rule", last.Fault, "attempts", last.Attempt)
}

// deferLimit defers the event that a limit was reached.
func (t *step) deferLimit(limit string, failed *Error) {
	guard := map[Code]string{CodeLimit: "session-limit", CodeBudget: "budget-spent"}[failed.Code]
	t.deferGuard(guard, session.Call{N: t.now.Calls, Purpose: t.now.Owed.Purpose, Step: t.now.Step}, failed.Message)
	t.log(slog.LevelError, "limit reached", "limit", limit, "calls", t.now.Calls, "retries", t.now.Retries)
}

// logCall logs tokens, cost and latency of a call for operators (I-16). It leaves out
// the detail, because findings may quote the candidate.
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

// logAccepted logs what an accepted reply contained (I-16).
func (t *step) logAccepted(entry session.Call, questions int) {
	switch entry.Purpose {
	case session.PurposeQuestions:
		t.log(slog.LevelInfo, "questions generated", "call", entry.N, "questions", questions)
	case session.PurposeAdaptive:
		t.log(slog.LevelInfo, "questions generated", "call", entry.N, "questions", 1)
	case session.PurposeMirror:
		t.log(slog.LevelInfo, "mirror generated", "call", entry.N)
	default:
	}
}

// withoutID returns the text of a store's error with the session's id shortened.
func (t *step) withoutID(err error) string {
	id := cmp.Or(t.now.ID, t.request.Session)
	return strings.ReplaceAll(fmt.Sprint(err), id, short(id))
}

// log writes a line with the candidate, the session and its step. It shortens the id
// of the session, because the whole id gives access to the interview.
func (t *step) log(level slog.Level, message string, attrs ...any) {
	t.dep.Log.Log(t.ctx, level, message, append([]any{
		"candidate", t.stored.Candidate, "session", short(t.stored.ID),
		"step", t.stored.Step, "block", t.stored.Step.Block(), "part", t.stored.Step.Part(),
	}, attrs...)...)
}

func short(id string) string { return id[:min(len(id), 8)] }
