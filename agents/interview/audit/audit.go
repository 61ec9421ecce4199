// Package audit reports what happened in one interview, from its stored data: calls, tokens, cost,
// latency, retries and trimming, and whether messages, answers, queues and calls agree.
package audit

import (
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/internal/lazyregexp"
	"github.com/rehearse-dev/rehearse/internal/quantity"
	"github.com/rehearse-dev/rehearse/llm"
)

// Schema identifies the JSON format of an Audit.
const Schema = "rehearse.session-audit/1"

// Data is all stored data of one session.
type Data struct {
	Session  session.Session
	Messages []session.Message
	Answers  []session.Answer
	Queues   []session.Queue
	Calls    []session.Call
	Shares   []session.Share
}

// Options configure an audit.
type Options struct {
	// Texts includes the texts of messages; otherwise an audit contains only their sizes.
	Texts bool
	// Currency is the currency of all amounts; default EUR. EURPerUSD is the exchange rate at
	// RateDate, and PriceDate the date of the price table. Dates are written YYYY-MM-DD.
	Currency  quantity.Currency
	EURPerUSD float64
	RateDate  string
	PriceDate string
	// Price returns the cost of usage of a model. With it the amounts follow from the tokens in
	// the audit and the prices at PriceDate; nil uses the costs in the ledger.
	Price func(model string, u llm.Usage) (quantity.Money, bool)
	// Share is the share through which the audit is read; nil for operators, who see all shares.
	Share *session.Share
	// Redact removes secrets from texts; nil keeps them.
	Redact func(string) string
}

// Audit is the report on one interview. It depends only on Data and Options: the same session
// gives the same bytes.
type Audit struct {
	Schema string `json:"schema"`
	// Verdict is Fail if a check failed or the contract was broken.
	Verdict Verdict `json:"verdict"`
	Session About   `json:"session"`
	// Shared is true if the audit is read through the only entry of Shares, which otherwise lists the
	// shares of the session.
	Shared   bool            `json:"shared,omitempty"`
	Shares   []session.Share `json:"shares,omitempty"`
	Prices   priceBasis      `json:"prices"`
	Contract callContract    `json:"contract"`
	Checks   []Check         `json:"checks"`
	// Total covers all calls. Purposes are in the order of session.Purposes, and Steps in the
	// order of session.Steps.
	Total    Group         `json:"total"`
	Purposes []Group       `json:"purposes"`
	Steps    []stepSummary `json:"steps"`
	// Rejected is the share of replies that did not validate, Broken the share of calls that
	// failed in transport, and Trimmed the share of calls with a trimmed history.
	Rejected Rate `json:"rejected"`
	Broken   Rate `json:"broken"`
	Trimmed  Rate `json:"trimmed"`
	// Fallbacks lists the messages that were replaced by a text of the prompts.
	Fallbacks []session.Fallback `json:"fallbacks"`
	// Repeated are the calls that repeat a lost call.
	Repeated []Repeat      `json:"repeated"`
	Warnings []textWarning `json:"warnings"`
	// Prompts and Models list the used versions in order of first use.
	Prompts  []Used         `json:"prompts"`
	Models   []Used         `json:"models"`
	Calls    []ledgerCall   `json:"calls"`
	Messages []messageEntry `json:"messages"`
}

// Verdict is the outcome of a check.
type Verdict string

// The verdicts.
const (
	Pass Verdict = "pass"
	Fail Verdict = "fail"
	Skip Verdict = "skip" // nothing to check yet
)

// About describes the session.
type About struct {
	// ID is only the start of the session's id, because the whole id gives access to the interview.
	ID        string           `json:"id"`
	Candidate string           `json:"candidate"`
	Language  session.Language `json:"language"`
	// Job is the job with which the session began, and JobHash its SHA-256; both are empty in
	// sessions from before jobs could be chosen.
	Job     *session.Job   `json:"job,omitempty"`
	JobHash string         `json:"job_hash,omitempty"`
	Status  session.Status `json:"status"`
	// Failed is the code of the error that ended the last try, for stuck and limited.
	Failed string `json:"failed,omitempty"`
	// Limit is the limit that was reached, for limited: calls, cost or retries.
	Limit    string           `json:"limit,omitempty"`
	Step     session.Step     `json:"step"`
	Phase    session.Phase    `json:"phase"`
	Register session.Register `json:"register,omitempty"`
	Medium   session.Medium   `json:"medium,omitempty"`
	Version  int64            `json:"version"`
	Created  time.Time        `json:"created"`
	Updated  time.Time        `json:"updated"`
	Messages int              `json:"messages"`
	Answers  int              `json:"answers"`
	// Texts is true if the audit contains the texts of messages.
	Texts bool `json:"texts"`
}

// priceBasis describes the prices from which amounts are computed.
type priceBasis struct {
	Currency  quantity.Currency `json:"currency"`
	Date      string            `json:"date,omitempty"`
	EURPerUSD float64           `json:"eur_per_usd,omitempty"`
	RateDate  string            `json:"rate_date,omitempty"`
}

// stepSummary summarizes one step of the interview and its calls.
type stepSummary struct {
	Step  session.Step `json:"step"`
	Block int          `json:"block,omitempty"`
	Part  string       `json:"part,omitempty"`
	// Began and Ended are the times of the first and last message; zero without messages.
	Began time.Time `json:"began,omitzero"`
	Ended time.Time `json:"ended,omitzero"`
	// Questions is the length of the queue, and Answers the number of answered questions.
	Questions int `json:"questions,omitempty"`
	Answers   int `json:"answers,omitempty"`
	Group
}

// Repeat is a call that repeats a lost call.
type Repeat struct {
	Call    int             `json:"call"`
	Repeats int             `json:"repeats"`
	Purpose session.Purpose `json:"purpose"`
	Step    session.Step    `json:"step"`
}

// textWarning is a warning about a text that was used.
type textWarning struct {
	Call    int             `json:"call"`
	Purpose session.Purpose `json:"purpose"`
	Step    session.Step    `json:"step"`
	Text    string          `json:"text"`
}

// Used is a version of the prompts or of a model, with the number of calls that used it.
type Used struct {
	Name  string `json:"name"`
	Calls int    `json:"calls"`
}

// ledgerCall is one entry of the ledger, with its cost in the audit's currency.
type ledgerCall struct {
	session.Call
	// Amount is the cost, or nil if it is unknown. It replaces the cost of the ledger.
	Amount *float64 `json:"cost"`
	// Billed are the tokens that determine the cost: the reported ones, or else the counted ones.
	Billed tokenSums `json:"billed"`
	// Difference is the reported minus the counted tokens, or nil if none were reported.
	// Unexplained is true if the difference exceeds what the framing of messages explains.
	Difference  *tokenSums `json:"difference,omitempty"`
	Unexplained bool       `json:"unexplained,omitempty"`
}

// messageEntry is one message. Its text is empty in an audit without texts.
type messageEntry struct {
	Seq      int          `json:"seq"`
	Role     llm.Role     `json:"role"`
	Kind     session.Kind `json:"kind"`
	Step     session.Step `json:"step"`
	Question int          `json:"question"`
	Tokens   int          `json:"tokens"`
	At       time.Time    `json:"at"`
	Call     int          `json:"call,omitempty"`
	// Kept is true if the message was stored as an answer.
	Kept bool   `json:"kept,omitempty"`
	Text string `json:"text,omitempty"`
}

// Of returns the audit of a session.
func Of(d Data, o Options) Audit {
	if o.Currency == "" {
		o.Currency = quantity.EUR
	}
	o.Redact = withoutAccess(d.Session.ID, o.Redact)
	a := Audit{
		Schema:    Schema,
		Session:   about(d, o),
		Prices:    priceBasis{Currency: o.Currency, Date: o.PriceDate, EURPerUSD: o.EURPerUSD, RateDate: o.RateDate},
		Calls:     calls(d.Calls, o),
		Fallbacks: append([]session.Fallback{}, d.Session.Fallbacks...),
		Messages:  messages(d, o),
		Shared:    o.Share != nil,
	}
	if o.Share != nil {
		d.Shares = []session.Share{*o.Share}
	}
	for _, one := range d.Shares {
		a.Shares = append(a.Shares, one.Shown())
	}
	a.addUp(d)
	a.Contract = contract(d)
	a.Checks = Checks(d)
	a.Verdict = verdict(a)
	return a
}

func verdict(a Audit) Verdict {
	if a.Contract.Verdict == Fail {
		return Fail
	}
	for _, c := range a.Checks {
		if c.Verdict == Fail {
			return Fail
		}
	}
	return Pass
}

func about(d Data, o Options) About {
	s := d.Session
	a := About{
		ID: session.ShortID(s.ID), Candidate: s.Candidate, Language: s.Language, Step: s.Step, Phase: s.Phase,
		Register: s.Register, Medium: s.Medium, Version: s.Version, Created: s.Created.UTC(), Updated: s.Updated.UTC(),
		Messages: len(d.Messages), Answers: len(d.Answers), Texts: o.Texts, Status: s.Status(),
	}
	switch a.Status {
	case session.StatusLimited:
		a.Failed, a.Limit = s.Owed.Failed, s.Owed.Limit
	case session.StatusStuck:
		a.Failed = s.Owed.Failed
	default:
	}
	if s.Job != nil {
		a.Job, a.JobHash = s.Job, s.Job.Hash()
	}
	return a
}

// accessPattern matches a personal link, the token of an invitation and a code, which a candidate may have
// written in an answer.
var accessPattern = lazyregexp.New(`/r/[a-z2-7]{26,}|\binvite=[A-Z2-7]{20,}|\b(?:[0-9A-HJKMNP-TV-Z]{4}-){2}[0-9A-HJKMNP-TV-Z]{4}\b`)

// withoutAccess returns redact, if any, which then also removes what would open an interview.
func withoutAccess(id string, redact func(string) string) func(string) string {
	return func(text string) string {
		if redact != nil {
			text = redact(text)
		}
		if id != "" {
			text = strings.ReplaceAll(text, id, "[id]")
		}
		return accessPattern().ReplaceAllString(text, "[access]")
	}
}

func calls(ledger []session.Call, o Options) []ledgerCall {
	out := make([]ledgerCall, 0, len(ledger))
	for _, c := range ledger {
		entry := ledgerCall{Call: c, Amount: amount(c, o), Billed: sums(c.Billed()), Difference: difference(c), Unexplained: c.Disagrees()}
		entry.At, entry.Cost = c.At.UTC(), nil
		if !o.Texts && c.Outcome == session.Broken {
			entry.Detail = "" // providers may quote texts of the request; our validators do not
		}
		entry.Detail = o.Redact(entry.Detail)
		out = append(out, entry)
	}
	return out
}

func messages(d Data, o Options) []messageEntry {
	answered := map[int]bool{}
	for _, answer := range d.Answers {
		answered[answer.Message] = true
	}
	out := make([]messageEntry, 0, len(d.Messages))
	for _, m := range d.Messages {
		entry := messageEntry{
			Seq: m.Seq, Role: m.Role, Kind: m.Kind, Step: m.Step, Question: m.Question,
			Tokens: m.Tokens, At: m.At.UTC(), Call: m.Call, Kept: answered[m.Seq],
		}
		if o.Texts {
			entry.Text = o.Redact(m.Text)
		}
		out = append(out, entry)
	}
	return out
}
