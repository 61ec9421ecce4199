package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/rehearse-dev/rehearse/internal/lazyregexp"
	"github.com/rehearse-dev/rehearse/llm"
)

// judge returns the reply or the failure of a finished run, in this order:
//
//  0. the agent was stopped at a limit of the request: its answer so far;
//  1. the agent reports a failure, with any exit status;
//  2. the output is too long;
//  3. there is a final event, and the agent exited with 0, or was stopped because it did not exit,
//     or its events outrank its exit status: success;
//  4. the context ended;
//  5. the exit status is not 0, or a signal ended the agent;
//  6. there is no final event: the output was cut off, or its events are unknown.
//
// A failure without a kind has the cause of the context.
func judge(g agent, a *answer, end ending) (llm.Reply, *llm.Error) {
	status := max(end.Code, 0)
	if a.failure != nil && a.failure.status != 0 {
		status = a.failure.status
	}
	fail := func(kind llm.ErrorKind, message string, err error) (llm.Reply, *llm.Error) {
		failed := &llm.Error{
			Kind: kind, Backend: g.id, Status: status, Message: message,
			Partial: a.partial(), Usage: a.usage, Retries: a.retries, Err: err,
		}
		if kind == llm.RateLimited {
			failed.RetryAfter = retryAfter(message)
		}
		failed.Lasting = a.all.Len() == 0 && (len(a.unknown) > 0 && kind == llm.Malformed || a.events == 0 && lastingText().MatchString(message))
		return llm.Reply{}, failed
	}
	switch {
	case a.stopped != "":
		return a.reply(a.stopped), nil
	case a.failure != nil:
		return fail(failureKind(a, end), a.failure.message, nil)
	case errors.Is(end.Cause, ErrFlood):
		return fail(llm.Malformed, end.Cause.Error(), end.Cause)
	case succeeded(g, a, end):
		return conclude(a, fail)
	case errors.Is(end.Cause, context.DeadlineExceeded):
		return fail(llm.Timeout, "no answer before the deadline; the process group was stopped", end.Cause)
	case end.Cause != nil:
		return fail("", "", end.Cause)
	case end.Code < 0:
		return fail(llm.Truncated, "the agent was killed by a signal"+quoted(a, end), ErrKilled)
	case end.Code > 0:
		return fail(exitKind(g, a, end), fmt.Sprintf("exit status %d%s", end.Code, quoted(a, end)), nil)
	case a.events == 0:
		return fail(llm.Malformed, "the agent exited with status 0 and gave no answer"+quoted(a, end), nil)
	case len(a.unknown) > 0 && a.all.Len() == 0:
		return fail(llm.Malformed, fmt.Sprintf("the agent printed no answer, and events of unknown types (%s): "+
			"is it a newer version than %s, which was tested?%s", strings.Join(a.unknown, ", "), cmp.Or(g.tested, "the one"), quoted(a, end)), nil)
	default:
		return fail(llm.Truncated, "the agent's output ends before its final event"+quoted(a, end), nil)
	}
}

func succeeded(g agent, a *answer, end ending) bool {
	if g.plain {
		return end.Cause == nil && end.Code == 0 && a.events > 0
	}
	return a.ended && (end.Code == 0 || end.Cause != nil || g.eventOutranksExit)
}

// conclude returns the reply of a successful run.
func conclude(a *answer, fail func(llm.ErrorKind, string, error) (llm.Reply, *llm.Error)) (llm.Reply, *llm.Error) {
	reply := a.reply(cmp.Or(a.finish, llm.FinishStop))
	switch {
	case a.finish == llm.FinishContentFilter:
		return fail(llm.Refused, "the model refused: "+reply.Text, nil)
	case strings.TrimSpace(reply.Text) == "":
		return fail(llm.Malformed, "the agent reports success and gave no text", nil)
	}
	return reply, nil
}

// reply returns what the agent reported.
func (a *answer) reply(finish llm.FinishReason) llm.Reply {
	return llm.Reply{
		Text: cmp.Or(a.text, a.all.String()), Finish: finish, Model: a.model, Usage: a.usage, ReportedUSD: a.usd,
		Retries: a.retries, Denials: a.reported(), Session: a.current(),
	}
}

// quoted returns the last error event and the output outside the events, for a message.
func quoted(a *answer, end ending) string {
	var b strings.Builder
	complaint, _, _ := strings.Cut(end.stderr, "\n\nStack backtrace:\n")
	for _, text := range []string{a.lastError, complaint, a.noise.String()} {
		if text != "" {
			b.WriteString(": " + text)
		}
	}
	return b.String()
}

func failureKind(a *answer, end ending) llm.ErrorKind {
	if a.finish == llm.FinishContentFilter {
		return llm.Refused
	}
	kind := kindOf(a.failure.message, a.failure.status)
	if kind == llm.Failed && a.limited {
		return llm.RateLimited
	}
	if kind == llm.Failed && end.Code > 0 {
		return kindOf(end.stderr, 0)
	}
	return kind
}

func exitKind(g agent, a *answer, end ending) llm.ErrorKind {
	if kind, ok := g.exitKinds[end.Code]; ok {
		return kind
	}
	if a.limited {
		return llm.RateLimited
	}
	return kindOf(quoted(a, end), 0)
}

var (
	// Quota messages of the agents and of their providers.
	limitText = lazyregexp.New(`(?i)rate.?limit|usage.?limit|quota|too many requests|\b429\b|` +
		`(hit|reached|exceeded) your [a-z0-9 -]{0,30}limit|out of (extra )?(credits|usage)|credit balance is too low|resource.?exhausted`)
	authText = lazyregexp.New(`(?i)\b401\b|unauthori[sz]ed|` +
		`(invalid|incorrect) (x-)?api[ -]key|not logged in|please (run )?/?log ?in|authentication.?(failed|error)|no authentication`)
	downText = lazyregexp.New(`(?i)\b(500|502|503|529)\b|overloaded|stream disconnected|` +
		`connection ?(refused|reset|failed|error)|(unable to|cannot|could not) connect|econn(refused|reset)|enotfound|eai_again|` +
		`service unavailable|experiencing high demand|already has an active writer`)
	cutText = lazyregexp.New(`(?i)incomplete response returned, reason: max_output_tokens`)
	badText = lazyregexp.New(`(?i)empty or malformed response`)
)

// lastingText matches messages of programs that print no event, because they do not know a flag or wait for an
// answer to a question.
var lastingText = lazyregexp.New(`(?i)un(?:known|expected|recogni[sz]ed) (?:option|argument|flag|command|subcommand)|` +
	`[\[(]y(?:es)?/no?[\])]`)

// kindOf returns the kind of a failure by the provider's status or, if that is unknown, by the message
// of the program, which never contains text of the model or tool results.
func kindOf(text string, status int) llm.ErrorKind {
	switch {
	case status == 429:
		return llm.RateLimited
	case status == 401, status == 403:
		return llm.Unauthorized
	case status >= 500:
		return llm.Unavailable
	case status != 0:
		return llm.Failed
	case noSession().MatchString(text):
		return llm.NoSession
	case limitText().MatchString(text):
		return llm.RateLimited
	case authText().MatchString(text):
		return llm.Unauthorized
	case downText().MatchString(text):
		return llm.Unavailable
	case cutText().MatchString(text):
		return llm.Truncated
	case badText().MatchString(text):
		return llm.Malformed
	default:
		return llm.Failed
	}
}
