package loop

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/agents/internal/run"
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/llm"
)

// judge decides whether the run continues after a call.
func (r *runner) judge(n int, reply llm.Reply, err error) *run.Ending {
	if err == nil {
		r.result.Text = reply.Text
	}
	if end := r.Limits(); end != nil {
		if err == nil && end.Status == StatusBudget { // the answer was paid for, so report it
			r.result.Completed = r.claim(reply).state == finished
		}
		return end
	}
	if err != nil {
		return r.judgeFailure(n, err)
	}
	return r.judgeAnswer(n, reply)
}

func (r *runner) judgeFailure(n int, err error) *run.Ending {
	if end, handled := r.judgeLimit(n, err); handled {
		return end
	}
	r.failed++
	r.asked = 0
	if e, ok := errors.AsType[*llm.Error](err); ok {
		r.asked = e.RetryAfter
	}
	same := r.errors.Next(errorKey(err))
	r.moveBreaker(n, err.Error(), r.breaker.fail)
	switch set := r.set; {
	case r.breaker.givenUp():
		return &run.Ending{
			Status: StatusError, Guard: "breaker.max_opens", Err: err,
			Details: fmt.Sprintf("gave up at opening %d of the circuit (breaker.max_opens %d); last error: %s",
				r.breaker.opens, r.breaker.maxOpens, err),
		}
	case set.RepeatedErrorLimit > 0 && same >= set.RepeatedErrorLimit:
		return &run.Ending{
			Status: StatusNoProgress, Guard: "repeated_error_limit", Err: err,
			Details: fmt.Sprintf("stopped after %d times the same error in a row (repeated_error_limit %d): %s%s",
				same, set.RepeatedErrorLimit, err, noReset(err, set.WaitForLimits)),
		}
	case set.ErrorLimit > 1 && hopeless(err):
		return &run.Ending{
			Status: StatusError, Guard: "error_limit", Err: err,
			Details: "stopped, as the call would fail again: " + err.Error(),
		}
	case set.ErrorLimit > 0 && r.failed >= set.ErrorLimit:
		return &run.Ending{
			Status: StatusError, Guard: "error_limit", Err: err,
			Details: fmt.Sprintf("stopped, as calls failed (%d in a row, error_limit %d): %s%s",
				r.failed, set.ErrorLimit, err, noReset(err, set.WaitForLimits)),
		}
	}
	return nil
}

// errorKey identifies an error by its kind, status and message without numbers, such as request
// ids, ports and waiting times.
func errorKey(err error) string {
	e, ok := errors.AsType[*llm.Error](err)
	if !ok {
		return run.Near(err.Error())
	}
	message := e.Message
	if message == "" && e.Err != nil {
		message = e.Err.Error()
	}
	return fmt.Sprintf("%s %d %s", e.Kind, e.Status, run.Near(message))
}

func (r *runner) judgeAnswer(n int, reply llm.Reply) *run.Ending {
	r.failed = 0
	r.errors = run.Repeats{}
	r.moveBreaker(n, "the call was answered", r.breaker.succeed)
	stuck := r.stalled.next(reply.Text, r.lastWork())
	verdict := r.read(n, reply)
	if end := r.judgeTools(n, reply); end != nil {
		return end
	}
	switch {
	case verdict.state == blocked:
		r.dep.Sink.Emit(event.Event{Kind: event.HandOver, Name: "person", N: n, Detail: verdict.summary})
		return &run.Ending{Status: StatusBlocked, Details: strings.TrimSuffix("handed over to a person: "+verdict.summary, ": ")}
	case verdict.state == finished && (stuck == nil || !r.refused[reply.Text]):
		return r.complete(n, reply, verdict.summary)
	case stuck != nil:
		return stuck
	}
	r.dialogue.proceed(reply.Text, r.remark(reply, verdict))
	return nil
}

// judgeTools ends the run at the second iteration in a row that reached the limit of denied or failed tool calls.
func (r *runner) judgeTools(n int, reply llm.Reply) *run.Ending {
	count := func(in *int, limit llm.FinishReason) (again bool) {
		if reply.Finish != limit {
			*in = 0
			return false
		}
		*in++
		return *in > 1
	}
	denied, failing := count(&r.denied, llm.FinishDenials), count(&r.failing, llm.FinishFailures)
	switch {
	case denied:
		return deniedAgain(n, r.set.DenialLimit, reply.Denials)
	case failing:
		return &run.Ending{
			Status: StatusNoProgress, Guard: "failure_limit",
			Details: fmt.Sprintf("stopped at iteration %d, the second in a row that ended at tool calls that fail (failure_limit %d)",
				n, r.set.FailureLimit),
		}
	}
	return nil
}

// cutOff are the finish reasons of an answer that is not complete, whatever it claims.
var cutOff = []llm.FinishReason{
	llm.FinishLength, llm.FinishContentFilter, llm.FinishTurns, llm.FinishDenials, llm.FinishFailures, llm.FinishCost,
}

// claim parses the claim of an answer about its completion.
func (r *runner) claim(reply llm.Reply) claim {
	var verdict claim
	if r.set.Mode == JSON {
		verdict = readObject(reply.Text)
	} else {
		verdict = markers{done: r.set.Marker, blocked: r.set.BlockedMarker}.read(reply.Text)
	}
	if r.set.Mode == Answer && verdict.state == unfinished && strings.TrimSpace(reply.Text) != "" {
		verdict.state = finished
	}
	if slices.Contains(cutOff, reply.Finish) {
		verdict = verdict.cutOff(reply.Finish)
	}
	return verdict
}

// read parses the claim of an answer and records its note and summary.
func (r *runner) read(n int, reply llm.Reply) claim {
	verdict := r.claim(reply)
	if why := verdict.note.english; why != "" {
		r.dep.Sink.Emit(event.Event{Kind: event.Verdict, Name: "completion", N: n, Detail: why})
	}
	if verdict.summary != "" {
		r.result.Summary = verdict.summary
	}
	return verdict
}
