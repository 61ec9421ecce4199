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

// callResult is the result of a call: a failure, or a text with its validation.
type callResult struct {
	failure *llm.Error
	text    string
	checked validate.Result
}

func readReply(reply llm.Reply, err error, check func(text string) validate.Result) callResult {
	r := callResult{text: withoutControls(reply.Text)}
	failure, known := errors.AsType[*llm.Error](err)
	switch {
	case known:
		r.failure = failure
	case err != nil:
		r.failure = &llm.Error{Kind: llm.Failed, Err: err}
	case reply.Finish == llm.FinishContentFilter:
		r.failure = &llm.Error{Kind: llm.Refused, Message: "the content filter stopped the answer", Partial: reply.Text, Usage: reply.Usage}
	case reply.Finish == llm.FinishLength:
		r.checked.Findings = []validate.Finding{{Rule: ruleTruncated, Message: "the answer was cut off before its end: write less"}}
	default:
		r.checked = check(r.text)
	}
	return r
}

// withoutControls removes control characters, which some stores reject. It leaves invalid UTF-8
// for the validators to find.
func withoutControls(text string) string {
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

// rule returns the rule of the first finding that makes the text invalid, else of the first
// warning; empty without findings.
func (r callResult) rule() string {
	for _, f := range r.checked.Findings {
		if !f.Warning {
			return string(f.Rule)
		}
	}
	if len(r.checked.Findings) > 0 {
		return string(r.checked.Findings[0].Rule)
	}
	return ""
}

func (r callResult) warnings() []string {
	var all []string
	for _, f := range r.checked.Findings {
		if f.Warning {
			all = append(all, sanitize.Line(f.Message, maxDetail))
		}
	}
	return all
}

// findings returns the messages of all findings in one line.
func (r callResult) findings() string {
	return r.joinFindings(func(f validate.Finding) string { return f.Message }, maxDetail)
}

// complaint returns the messages of all findings in the language of the interview.
func (r callResult) complaint(l session.Language) string {
	if r.rule() == string(ruleTruncated) && l == session.French {
		return "la réponse a été coupée avant la fin ; écris moins"
	}
	return r.joinFindings(func(f validate.Finding) string { return f.In(l) }, maxComplaint)
}

func (r callResult) joinFindings(text func(validate.Finding) string, limit int) string {
	all := make([]string, len(r.checked.Findings))
	for i, f := range r.checked.Findings {
		all[i] = text(f)
	}
	return sanitize.Line(strings.Join(all, "; "), limit)
}

// decision describes how to proceed after a call.
type decision struct {
	use      *session.Draft // the reply to show, of this call or an earlier one
	again    bool           // make another call, after wait
	wait     time.Duration
	fallback bool   // show a text of the prompts instead
	failed   *Error // give up; set if none of the others is
}

// decide returns the decision after a call, and updates the counters in owed.
//
// The two kinds of retries have separate budgets. A text with only warnings gets one more
// attempt; then, or if the retries are used up, the text with the fewest warnings is used.
//
// After too many invalid texts a text of the prompts is shown, so that a finding never
// blocks a candidate.
func (o Options) decide(owed *session.Owed, r callResult, entry session.Call, l session.Language) decision {
	if r.failure != nil {
		wait, again := o.wait(r.failure, owed.Transport)
		owed.Transport++
		if again {
			return decision{again: true, wait: wait}
		}
		return draftOr(owed.Draft, backendFailed(r.failure))
	}
	valid := r.checked.Valid()
	if !valid {
		owed.Refused++
	}
	draft := &session.Draft{Text: r.text, Call: entry}
	retry := owed.Validation < o.ValidationRetries
	switch {
	case valid && owed.Draft != nil && len(owed.Draft.Call.Warnings) < len(entry.Warnings):
		return decision{use: owed.Draft}
	case valid && (len(entry.Warnings) == 0 || owed.Draft != nil || !retry):
		return decision{use: draft}
	case retry:
		owed.Validation++
		storeComplaint(owed, r, l)
		if valid {
			owed.Draft = draft
		}
		return decision{again: true}
	}
	if owed.Draft == nil && owed.Refused >= o.patience(owed.Purpose) {
		return decision{fallback: true}
	}
	storeComplaint(owed, r, l) // for the candidate's retry
	return draftOr(owed.Draft, &Error{
		Code:    CodeReply,
		Message: "the model's texts did not have the form that they need; nothing is lost: send RETRY to try again",
		Err:     errors.New(r.findings()),
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

// maxReply is the maximum length in runes of an invalid text that the next request contains; it
// exceeds the length of the longest valid text.
const maxReply = 12_000

// storeComplaint stores the findings of this attempt for the next one.
func storeComplaint(owed *session.Owed, r callResult, l session.Language) {
	owed.Complaint, owed.Reply, owed.Wanted = r.complaint(l), "", nil
	if runes := []rune(r.text); utf8.ValidString(r.text) && len(runes) <= maxReply {
		owed.Reply = r.text
	}
	for _, f := range r.checked.Findings {
		owed.Wanted = append(owed.Wanted, f.Wanted...)
	}
}

// draftOr uses the draft, or gives up without one.
func draftOr(draft *session.Draft, failed *Error) decision {
	if draft != nil {
		return decision{use: draft}
	}
	return decision{failed: failed}
}

// wait returns the wait before the retry of a failed call after a number of earlier failures;
// again is false if it is not retried. A malformed answer is retried once.
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
