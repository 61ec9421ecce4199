// Package audit tells what happened in one interview from what its store holds:
// calls, tokens, cost, latency, retries, trimming, and whether what was said,
// answered, queued and called agree with each other. It reads values and returns
// a value; JSON and HTML render it.
package audit

import (
	"time"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/internal/quantity"
	"github.com/rehearse-dev/rehearse/llm"
)

// Schema names the form of an Audit in JSON.
const Schema = "rehearse.session-audit/1"

// Data is what a store holds of one session.
type Data struct {
	Session  session.Session
	Messages []session.Message
	Answers  []session.Answer
	Queues   []session.Queue
	Calls    []session.Call
}

// Options say how an audit is made.
type Options struct {
	// Texts keeps what was asked and answered. Without it an audit holds no word
	// of the candidate or of a model, only sizes.
	Texts bool
	// Currency is that of all amounts; default EUR. EURPerUSD is the exchange rate
	// of RateDate for costs in the other one, and PriceDate that of the price table;
	// dates are YYYY-MM-DD.
	Currency  quantity.Currency
	EURPerUSD float64
	RateDate  string
	PriceDate string
	// Price returns what usage of a model costs, so that amounts follow from the tokens
	// that the audit shows and the prices of PriceDate; nil takes those of the ledger.
	Price func(model string, u llm.Usage) (quantity.Money, bool)
	// Redact takes secrets out of texts; nil leaves them.
	Redact func(string) string
}

// Audit is what happened in one interview. It depends on nothing but Data and
// Options: the same session gives the same bytes.
type Audit struct {
	Schema string `json:"schema"`
	// Verdict is Fail if any check failed or the contract was not kept.
	Verdict  Verdict      `json:"verdict"`
	Session  About        `json:"session"`
	Prices   priceBasis   `json:"prices"`
	Contract callContract `json:"contract"`
	Checks   []Check      `json:"checks"`
	// Total is over all calls; Purposes are in the order of session.Purposes, Steps
	// in that of session.Steps.
	Total    Group         `json:"total"`
	Purposes []Group       `json:"purposes"`
	Steps    []stepSummary `json:"steps"`
	// Rejected is the share of answers that did not validate, Broken that of calls
	// that failed in transport, and Trimmed that of calls whose request left out
	// part of the history.
	Rejected Rate `json:"rejected"`
	Broken   Rate `json:"broken"`
	Trimmed  Rate `json:"trimmed"`
	// Fallbacks are the messages for which a text of the prompts took the place of the
	// model's.
	Fallbacks []session.Fallback `json:"fallbacks"`
	// Repeated are the calls that were made again because a process died.
	Repeated []Repeat      `json:"repeated"`
	Warnings []textWarning `json:"warnings"`
	// Prompts and Models are the versions that were used, in order of appearance.
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
	Skip Verdict = "skip" // there is nothing to check (yet)
)

// About is the session itself.
type About struct {
	// ID is only the start of the session's id in an audit without texts: whoever
	// has the whole id can take the interview and read what it shows.
	ID        string           `json:"id"`
	Candidate string           `json:"candidate"`
	Language  session.Language `json:"language"`
	Status    interviewStatus  `json:"status"`
	// Failed is the code of the error with which the last try ended, for Stuck and
	// Limited.
	Failed string `json:"failed,omitempty"`
	// Limit is the limit that was reached, for Limited: calls, cost or retries.
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
	// Texts says whether the audit holds what was said.
	Texts bool `json:"texts"`
}

// interviewStatus says how far an interview is.
type interviewStatus string

// The statuses.
const (
	statusFinished interviewStatus = "finished"
	statusOpen     interviewStatus = "open"  // the candidate is to act
	statusOwing    interviewStatus = "owing" // the service owes a message
	statusStuck    interviewStatus = "stuck" // it owes a message, and its calls failed
	// statusLimited: it owes a message, and the session has reached a limit.
	statusLimited interviewStatus = "limited"
)

// priceBasis are what amounts rest on.
type priceBasis struct {
	Currency  quantity.Currency `json:"currency"`
	Date      string            `json:"date,omitempty"`
	EURPerUSD float64           `json:"eur_per_usd,omitempty"`
	RateDate  string            `json:"rate_date,omitempty"`
}

// stepSummary is one step of the interview and the calls that were made for it.
type stepSummary struct {
	Step  session.Step `json:"step"`
	Block int          `json:"block,omitempty"`
	Part  string       `json:"part,omitempty"`
	// Began and Ended are the times of the first and last message; zero where
	// nothing was said yet.
	Began time.Time `json:"began,omitzero"`
	Ended time.Time `json:"ended,omitzero"`
	// Questions is how many its queue holds, and Answers how many were answered.
	Questions int `json:"questions,omitempty"`
	Answers   int `json:"answers,omitempty"`
	Group
}

// Repeat is a call that was made again.
type Repeat struct {
	Call    int             `json:"call"`
	Repeats int             `json:"repeats"`
	Purpose session.Purpose `json:"purpose"`
	Step    session.Step    `json:"step"`
}

// textWarning is what a text that was used has and should not.
type textWarning struct {
	Call    int             `json:"call"`
	Purpose session.Purpose `json:"purpose"`
	Step    session.Step    `json:"step"`
	Text    string          `json:"text"`
}

// Used is a version of something and how many calls used it.
type Used struct {
	Name  string `json:"name"`
	Calls int    `json:"calls"`
}

// ledgerCall is one entry of the ledger, with its cost in the audit's currency.
type ledgerCall struct {
	session.Call
	// Amount is the cost; nil if it is unknown. It takes the place of the ledger's.
	Amount *float64 `json:"cost"`
	// Billed are the tokens that the cost is computed from: those reported, else those
	// counted.
	Billed tokenSums `json:"billed"`
	// Difference is what was reported less what was counted; nil where nothing was
	// reported. Unexplained means that it is more than the framing of messages by the
	// provider explains.
	Difference  *tokenSums `json:"difference,omitempty"`
	Unexplained bool       `json:"unexplained,omitempty"`
}

// messageEntry is what was said. Its text is empty where an audit holds none.
type messageEntry struct {
	Seq      int          `json:"seq"`
	Role     llm.Role     `json:"role"`
	Kind     session.Kind `json:"kind"`
	Step     session.Step `json:"step"`
	Question int          `json:"question"`
	Tokens   int          `json:"tokens"`
	At       time.Time    `json:"at"`
	Call     int          `json:"call,omitempty"`
	// Kept says that it was kept as an answer.
	Kept bool   `json:"kept,omitempty"`
	Text string `json:"text,omitempty"`
}

// Of makes the audit of a session.
func Of(d Data, o Options) Audit {
	if o.Currency == "" {
		o.Currency = quantity.EUR
	}
	if o.Redact == nil {
		o.Redact = func(s string) string { return s }
	}
	a := Audit{
		Schema:    Schema,
		Session:   about(d, o),
		Prices:    priceBasis{Currency: o.Currency, Date: o.PriceDate, EURPerUSD: o.EURPerUSD, RateDate: o.RateDate},
		Calls:     calls(d.Calls, o),
		Fallbacks: append([]session.Fallback{}, d.Session.Fallbacks...),
		Messages:  messages(d, o),
	}
	a.addUp(d)
	a.Contract = contract(d)
	a.Checks = check(d)
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

// shortID is how much of a session's id is enough to find it by.
const shortID = 8

func about(d Data, o Options) About {
	s := d.Session
	a := About{
		ID: s.ID, Candidate: s.Candidate, Language: s.Language, Step: s.Step, Phase: s.Phase,
		Register: s.Register, Medium: s.Medium, Version: s.Version, Created: s.Created.UTC(), Updated: s.Updated.UTC(),
		Messages: len(d.Messages), Answers: len(d.Answers), Texts: o.Texts, Status: statusOpen,
	}
	switch {
	case s.Phase == session.Finished:
		a.Status = statusFinished
	case s.Owed != nil && s.Owed.Limit != "":
		a.Status, a.Failed, a.Limit = statusLimited, s.Owed.Failed, s.Owed.Limit
	case s.Owed != nil && s.Owed.Failed != "":
		a.Status, a.Failed = statusStuck, s.Owed.Failed
	case s.Phase == session.Owing:
		a.Status = statusOwing
	}
	if !o.Texts {
		a.ID = s.ID[:min(shortID, len(s.ID)/2)]
	}
	return a
}

func calls(ledger []session.Call, o Options) []ledgerCall {
	out := make([]ledgerCall, 0, len(ledger))
	for _, c := range ledger {
		entry := ledgerCall{Call: c, Amount: amount(c, o), Billed: sums(c.Billed()), Difference: difference(c), Unexplained: c.Disagrees()}
		entry.At, entry.Cost = c.At.UTC(), nil
		if !o.Texts && c.Outcome == session.Broken {
			entry.Detail = "" // a provider may quote what was said; our validators do not
		}
		entry.Detail = o.Redact(entry.Detail)
		out = append(out, entry)
	}
	return out
}

func messages(d Data, o Options) []messageEntry {
	kept := map[int]bool{}
	for _, answer := range d.Answers {
		kept[answer.Message] = true
	}
	out := make([]messageEntry, 0, len(d.Messages))
	for _, m := range d.Messages {
		entry := messageEntry{
			Seq: m.Seq, Role: m.Role, Kind: m.Kind, Step: m.Step, Question: m.Question,
			Tokens: m.Tokens, At: m.At.UTC(), Call: m.Call, Kept: kept[m.Seq],
		}
		if o.Texts {
			entry.Text = o.Redact(m.Text)
		}
		out = append(out, entry)
	}
	return out
}
