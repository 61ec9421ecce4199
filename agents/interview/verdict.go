package interview

import (
	"errors"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/agents/interview/validate"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
	"github.com/rehearse-dev/rehearse/llm"
)

// ruleTruncated is the rule that a reply breaks if it reached the token limit.
const ruleTruncated validate.Rule = "truncated"

// The maximum length of the detail in the ledger and of the complaint, in runes.
const (
	maxDetail    = 500
	maxComplaint = 2000
)

// answer is the result of a call: a failure, or a text with its validation.
type answer struct {
	failure *llm.Error
	text    string
	result  validate.Result
}

// read returns the result of a call.
func read(reply llm.Reply, err error, want validate.Expected) answer {
	a := answer{text: legible(reply.Text)}
	failure, known := errors.AsType[*llm.Error](err)
	switch {
	case known:
		a.failure = failure
	case err != nil:
		a.failure = &llm.Error{Kind: llm.Failed, Err: err}
	case reply.Finish == llm.FinishContentFilter:
		a.failure = &llm.Error{Kind: llm.Refused, Message: "the content filter stopped the answer", Partial: reply.Text, Usage: reply.Usage}
	case reply.Finish == llm.FinishLength:
		a.result.Findings = []validate.Finding{{Rule: ruleTruncated, Message: "the answer was cut off before its end: write less"}}
	default:
		a.result = validate.Check(a.text, want)
	}
	return a
}

// legible removes control characters, which some stores reject. It leaves invalid UTF-8 for
// the validators to find.
func legible(text string) string {
	if !utf8.ValidString(text) {
		return text
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, newlines.Replace(text))
}

// rule returns the first rule that makes the text invalid, else the first rule with a
// warning; empty if there are no findings.
func (a answer) rule() string {
	rule := ""
	for _, f := range a.result.Findings {
		if !f.Warning {
			return string(f.Rule)
		}
		if rule == "" {
			rule = string(f.Rule)
		}
	}
	return rule
}

// warnings returns the messages of the warnings.
func (a answer) warnings() []string {
	var all []string
	for _, f := range a.result.Findings {
		if f.Warning {
			all = append(all, sanitize.Line(f.Message, maxDetail))
		}
	}
	return all
}

// findings returns the messages of all findings in one line.
func (a answer) findings(limit int) string {
	all := make([]string, len(a.result.Findings))
	for i, f := range a.result.Findings {
		all[i] = f.Message
	}
	return sanitize.Line(strings.Join(all, "; "), limit)
}

// complaint returns the messages of all findings in the language of the interview.
func (a answer) complaint(l session.Language) string {
	all := make([]string, len(a.result.Findings))
	for i, f := range a.result.Findings {
		all[i] = f.In(l)
	}
	if a.rule() == string(ruleTruncated) && l == session.French {
		all = []string{"la réponse a été coupée avant la fin ; écris moins"}
	}
	return sanitize.Line(strings.Join(all, "; "), maxComplaint)
}

// verdict is the decision after a call.
type verdict struct {
	// use is the reply to use, of this call or an earlier one, or nil.
	use *session.Draft
	// again requests another call after a wait.
	again bool
	wait  time.Duration
	// fallback requests a text of the prompts instead.
	fallback bool
	// failed is the error if none of these is set.
	failed *Error
}

// decide returns the decision after a call, and updates the counters in owed.
//
// The two kinds of retries have separate budgets. A text with only warnings gets one more
// attempt; then, or if the retries are used up, the text with the fewest warnings is used.
//
// After too many invalid texts a text of the prompts is shown, so that a finding never
// blocks a candidate.
func (o Options) decide(owed *session.Owed, a answer, entry session.Call, l session.Language) verdict {
	if a.failure != nil {
		wait, again := o.wait(a.failure, owed.Transport)
		owed.Transport++
		if again {
			return verdict{again: true, wait: wait}
		}
		return settleFor(owed.Draft, backendFailed(a.failure))
	}
	valid := a.result.Valid()
	if !valid {
		owed.Refused++
	}
	draft := &session.Draft{Text: a.text, Call: entry}
	retry := owed.Validation < o.ValidationRetries
	switch {
	case valid && owed.Draft != nil && len(owed.Draft.Call.Warnings) < len(entry.Warnings):
		return verdict{use: owed.Draft}
	case valid && (len(entry.Warnings) == 0 || owed.Draft != nil || !retry):
		return verdict{use: draft}
	case retry:
		owed.Validation++
		complain(owed, a, l)
		if valid {
			owed.Draft = draft
		}
		return verdict{again: true}
	}
	if owed.Draft == nil && owed.Refused >= o.patience(owed.Purpose) {
		return verdict{fallback: true}
	}
	complain(owed, a, l) // for the candidate's retry
	return settleFor(owed.Draft, &Error{
		Code:    CodeReply,
		Message: "the model's texts did not have the form that they need; nothing is lost: send RETRY to try again",
		Err:     errors.New(a.findings(maxDetail)),
	})
}

// minRefused is the minimum number of invalid texts before a text of the prompts is shown.
const minRefused = 2

// patience returns the number of invalid texts for one message before the fallback. It is
// doubled for the profile and the matching, which a neutral text replaces badly.
func (o Options) patience(p session.Purpose) int {
	n := max(minRefused, o.ValidationRetries+1)
	if p == session.PurposeProfile || p == session.PurposeMatching {
		return 2 * n
	}
	return n
}

// maxReply is the maximum length in runes of an invalid text that is sent along with the
// next attempt: more than the longest valid text has.
const maxReply = 12_000

// complain stores the findings of this attempt for the next one.
func complain(owed *session.Owed, a answer, l session.Language) {
	owed.Complaint, owed.Reply, owed.Wanted = a.complaint(l), "", nil
	if runes := []rune(a.text); utf8.ValidString(a.text) && len(runes) <= maxReply {
		owed.Reply = a.text
	}
	for _, f := range a.result.Findings {
		owed.Wanted = append(owed.Wanted, f.Wanted...)
	}
}

// settleFor uses the draft if there is one; otherwise the try has failed.
func settleFor(draft *session.Draft, failed *Error) verdict {
	if draft != nil {
		return verdict{use: draft}
	}
	return verdict{failed: failed}
}

// wait returns the wait before a failed call is retried, after a number of earlier
// failures; again is false if it is not retried. A malformed answer gets one retry.
func (o Options) wait(failed *llm.Error, earlier int) (wait time.Duration, again bool) {
	limit := o.TransportRetries
	switch {
	case failed.Kind == llm.Malformed:
		limit = min(limit, 1)
	case !failed.Kind.Transient():
		limit = 0
	}
	if earlier >= limit || failed.RetryAfter > maxBackoff {
		return 0, false
	}
	return max(o.backoff(earlier), failed.RetryAfter), true
}

// backoff returns the wait after a number of earlier failures. It doubles from Backoff to
// maxBackoff, without jitter, so that runs repeat.
func (o Options) backoff(earlier int) time.Duration {
	wait := min(o.Backoff, maxBackoff)
	for range earlier {
		wait = min(2*wait, maxBackoff)
	}
	return wait
}

// backendFailed returns the error for the client. It names only the kind of the failure:
// candidates must not see the error texts of providers.
func backendFailed(failure *llm.Error) *Error {
	return &Error{
		Code: CodeBackend, RetryAfter: failure.RetryAfter, Err: failure,
		Message: "the model did not answer (" + string(failure.Kind) + "); nothing is lost: send RETRY to try again",
	}
}
