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

// ruleTruncated is broken by a reply before its form is looked at.
const ruleTruncated validate.Rule = "truncated"

// The longest texts about a reply, in runes: the ledger's and the complaint.
const (
	maxDetail    = 500
	maxComplaint = 2000
)

// answer is what a call brought: a failure, or a text and what is to be said of it.
type answer struct {
	failure *llm.Error
	text    string
	result  validate.Result
}

// read returns what a call brought.
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

// legible takes out the control characters, which no text needs and some stores
// do not take. What is not UTF-8 is left for the validators to find.
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

// rule names what is wrong with a text: the first rule that makes it useless, else
// the first that it breaks; empty if it breaks none.
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

// findings returns what all findings say, in one line.
func (a answer) findings(limit int) string {
	all := make([]string, len(a.result.Findings))
	for i, f := range a.result.Findings {
		all[i] = f.Message
	}
	return sanitize.Line(strings.Join(all, "; "), limit)
}

// complaint returns what all findings say, in a language of interviews.
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

// verdict is what follows from a call.
type verdict struct {
	// use is the reply to use, of this call or an earlier one; nil if there is none.
	use *session.Draft
	// again says to make another call after a wait.
	again bool
	wait  time.Duration
	// fallback says to show a text of the prompts instead.
	fallback bool
	// failed is why there is none of these.
	failed *Error
}

// decide returns what follows from a call and counts it in owed.
//
// The two kinds of retries have budgets of their own. A text with warnings only is
// worth one more attempt; then, or when nothing better can be had, the one with
// the fewest warnings is used.
//
// Texts that were refused too often give way to a text of the prompts: no finding
// keeps a candidate from going on.
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

// minRefused is how many texts are refused at least before one of the prompts is
// shown instead.
const minRefused = 2

// patience returns how many texts may be refused for one message. The profile and
// the matching, which nothing can take the place of, get as many once more when
// the candidate asks for them.
func (o Options) patience(p session.Purpose) int {
	n := max(minRefused, o.ValidationRetries+1)
	if p == session.PurposeProfile || p == session.PurposeMatching {
		return 2 * n
	}
	return n
}

// maxReply is how much of a refused text goes along with the next attempt, in
// runes: more than the longest good text has.
const maxReply = 12_000

// complain stores the complaint about this attempt for the next one.
func complain(owed *session.Owed, a answer, l session.Language) {
	owed.Complaint, owed.Reply, owed.Wanted = a.complaint(l), "", nil
	if runes := []rune(a.text); utf8.ValidString(a.text) && len(runes) <= maxReply {
		owed.Reply = a.text
	}
	for _, f := range a.result.Findings {
		owed.Wanted = append(owed.Wanted, f.Wanted...)
	}
}

// settleFor uses the draft that there is, else the try has failed.
func settleFor(draft *session.Draft, failed *Error) verdict {
	if draft != nil {
		return verdict{use: draft}
	}
	return verdict{failed: failed}
}

// wait returns how long to wait before a failed call is made again, after a number of
// earlier failures; again is false if it is not. A malformed answer, which no
// provider gives for long, is worth one more attempt.
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

// backoff returns the wait after a number of earlier failures: it doubles from Backoff
// to maxBackoff. It has no jitter, so that runs repeat.
func (o Options) backoff(earlier int) time.Duration {
	wait := min(o.Backoff, maxBackoff)
	for range earlier {
		wait = min(2*wait, maxBackoff)
	}
	return wait
}

// backendFailed returns the error for the client. It names the kind alone: what
// providers write in their errors is not for candidates.
func backendFailed(failure *llm.Error) *Error {
	return &Error{
		Code: CodeBackend, RetryAfter: failure.RetryAfter, Err: failure,
		Message: "the model did not answer (" + string(failure.Kind) + "); nothing is lost: send RETRY to try again",
	}
}
