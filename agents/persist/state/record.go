package state

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	// Its first version means what the standard library's does, and reads a journal of
	// 100 MB in a fraction of the time.
	json "github.com/go-json-experiment/json/v1"

	"github.com/rehearse-dev/rehearse/agents/persist/plan"
)

// Kind is the kind of a record.
type Kind string

// The kinds of Record.
const (
	// KindBegin opens the journal of a plan.
	KindBegin Kind = "begin"
	// KindIntent is written before an attempt at a task, KindOutcome after it.
	KindIntent  Kind = "intent"
	KindOutcome Kind = "outcome"
	// KindStart is written before a parallel attempt at a task, KindFinish after it. Its intent and its
	// outcome follow when it is due; see State.Due.
	KindStart  Kind = "start"
	KindFinish Kind = "finish"
	// KindReport is written after an attempt that reports its task as done, before the task's
	// acceptance commands run. The outcome follows it. After a crash in between, only the
	// commands are repeated.
	KindReport Kind = "report"
	// KindSession is written during an attempt whose agent began a session.
	KindSession Kind = "session"
	// KindCheck has the results of checks.
	KindCheck Kind = "check"
	// KindDerive begins a round of tasks derived from failed checks and of failed tasks, which are
	// tried once more.
	KindDerive Kind = "derive"
	// KindSigns has the signs of a premature stop after a change.
	KindSigns Kind = "signs"
	// KindContext evicts unused files from the context.
	KindContext Kind = "context"
	// KindSegment begins a segment.
	KindSegment Kind = "segment"
	// KindAnswer is a person's answer to a task that is escalated or otherwise not done. The task gets
	// new attempts.
	KindAnswer Kind = "answer"
	// KindAmend replaces the plan. It has the complete state, because the records before it are those of
	// the earlier plan.
	KindAmend Kind = "amend"
	// KindEnd closes a run, and KindReopen continues it.
	KindEnd    Kind = "end"
	KindReopen Kind = "reopen"
)

// Record is one record of the journal. Only the fields of its kind are set. Records do not mention
// processes, so the journal of a run that was killed and resumed equals that of an undisturbed run.
type Record struct {
	Kind Kind `json:"kind"`
	// At is the working time of the run, without the time between its processes and without the
	// work of a killed process after its last record.
	At time.Duration `json:"at"`

	// Plan is the digest of the plan, for KindBegin and KindAmend.
	Plan string `json:"plan,omitempty"`
	// Amended is the new plan with its state, for KindAmend.
	Amended *Amended `json:"amended,omitempty"`

	// Task is for KindAnswer and, with Attempt, from 1, for the kinds of records of attempts.
	Task    string   `json:"task,omitempty"`
	Attempt int      `json:"attempt,omitempty"`
	Outcome *Outcome `json:"outcome,omitempty"`
	// Session is, for an intent, the session that the attempt continues, or nil for a new one. For KindSession
	// it is the session that the agent began.
	Session *Session `json:"session,omitempty"`

	// Files are the files that a parallel attempt used.
	Files []string `json:"files,omitempty"`

	// Text is the answer of a person.
	Text string `json:"text,omitempty"`

	// N is the number of the check, round or segment, from 1.
	N int `json:"n,omitempty"`
	// Why is the reason for a check.
	Why Why `json:"why,omitempty"`
	// Results are the results of all checks, or after a task of a round of the failed checks.
	Results []plan.CheckResult `json:"results,omitempty"`

	// Tasks are the tasks of a round in their order.
	Tasks []Derived `json:"tasks,omitempty"`

	Signs []Sign `json:"signs,omitempty"`

	// Context changes the files in context: an intent adds the files of the task, an outcome the
	// files that the attempt used.
	Context *Change `json:"context,omitempty"`

	End *End `json:"end,omitempty"`
	// Cut is the usage of each parallel attempt that the end cut off.
	Cut []CutOff `json:"cut,omitempty"`
}

// Amended is a plan that replaces an earlier one.
type Amended struct {
	// Tasks are the structure of the new plan as the caller stores it.
	Tasks json.RawMessage `json:"tasks"`
	// State is the snapshot of the state with the new plan.
	State json.RawMessage `json:"state"`
}

// Why is the reason for a check.
type Why string

// BetweenTasks reports whether tasks of the plan can still be run.
func (w Why) BetweenTasks() bool { return w == whyInterval }

// FailedOnly reports whether only failed checks are repeated.
func (w Why) FailedOnly() bool { return w == whyAfterTask }

// The reasons for checks.
const (
	whyInterval   Why = "interval"    // several tasks were done since the last check
	whyQueueEmpty Why = "queue-empty" // no task can be run
	whyAfterTask  Why = "after-task"  // a task of a round has ended
	whyFinal      Why = "final"       // all tasks of a round have ended
)

// Outcome is the end of an attempt.
type Outcome struct {
	// Grade is "done", "failed", "blocked", "escalated", "split" or "paused".
	Grade   string `json:"grade"`
	Answer  string `json:"answer,omitempty"`
	Details string `json:"details,omitempty"`
	Carry   string `json:"carry,omitempty"`
	// Cause is CauseStagnation or CauseNoProgress if the supervisor ended the attempt. The task
	// then goes to the end of the queue.
	Cause string `json:"cause,omitempty"`
	// Later is true for a failure that does not count, because a resource of the worker was
	// unavailable.
	Later bool `json:"later,omitempty"`
	// Calls are the tool calls of the attempt.
	Calls int `json:"calls,omitempty"`
	// Refused is the reason why the stop guard refused the answer, Steps the remaining work.
	Refused string   `json:"refused,omitempty"`
	Steps   []string `json:"steps,omitempty"`
	// Unjudged is the reason why the stop guard could not judge the answer.
	Unjudged string `json:"unjudged,omitempty"`
	// Inert is true if the worker cannot change anything.
	Inert bool `json:"inert,omitempty"`
	// Spent is the total of the run after the attempt.
	Spent Spent `json:"spent,omitzero"`
	// Used is the usage of the attempt; nil if its worker does not report any.
	Used *Used `json:"used,omitempty"`
	// Session is the session that the next attempt can continue, or nil.
	Session *Session `json:"session,omitempty"`
	// Accept are the results of the task's acceptance commands, up to the first that did not pass.
	Accept []plan.CheckResult `json:"accept,omitempty"`
}

// The grades of an Outcome.
const (
	gradeDone      = "done"
	gradeFailed    = "failed"
	gradeBlocked   = "blocked"
	gradeEscalated = "escalated"
	gradeSplit     = "split"
	// GradePaused is an attempt that a cap of the budget ended after an answer. The task has not
	// failed; the next run continues from there.
	GradePaused = "paused"
)

// The causes for which the supervisor ends an attempt.
const (
	CauseStagnation = "stagnation"
	CauseNoProgress = "no-progress"
)

// Spent is the usage of a run; see llm.Spent.
type Spent struct {
	Calls         int     `json:"calls,omitempty"`
	Tokens        int     `json:"tokens,omitempty"`
	Cost          float64 `json:"cost,omitempty"`
	TokensUnknown string  `json:"tokens_unknown,omitempty"`
	CostUnknown   string  `json:"cost_unknown,omitempty"`
}

// Used is what attempts used. In contrast to Spent, it has the cost without a cap on it.
type Used struct {
	Calls  int `json:"calls"`
	Tokens int `json:"tokens"`
	// Cost is in Currency, such as "USD".
	Cost     float64 `json:"cost"`
	Currency string  `json:"currency,omitempty"`
	// TokensUnknown and CostUnknown give the reason if Tokens and Cost are only lower bounds;
	// empty if they are exact.
	TokensUnknown string `json:"tokens_unknown,omitempty"`
	CostUnknown   string `json:"cost_unknown,omitempty"`
}

// Plus returns the sum of u and more, which may be nil.
func (u Used) Plus(more *Used) Used {
	if more == nil {
		return u
	}
	if u.Currency != "" && more.Currency != "" && u.Currency != more.Currency {
		u.CostUnknown = cmp.Or(u.CostUnknown, "the currency changed from "+u.Currency+" to "+more.Currency)
		u.Calls, u.Tokens = u.Calls+more.Calls, u.Tokens+more.Tokens
		return u
	}
	return Used{
		Calls: u.Calls + more.Calls, Tokens: u.Tokens + more.Tokens,
		Cost: math.Round((u.Cost+more.Cost)*1e9) / 1e9, Currency: cmp.Or(u.Currency, more.Currency),
		TokensUnknown: cmp.Or(u.TokensUnknown, more.TokensUnknown), CostUnknown: cmp.Or(u.CostUnknown, more.CostUnknown),
	}
}

// Derived is a task of a round: it is derived from a failed check, or if Do is empty, a failed task
// that is tried once more.
type Derived struct {
	ID   string     `json:"id"`
	Do   string     `json:"do,omitempty"`
	By   string     `json:"by,omitempty"`
	From plan.Check `json:"from"`
	// Of is the task whose answer announced this one as Step. Step is empty if the answer names
	// no steps.
	Of   string `json:"of,omitempty"`
	Step string `json:"step,omitempty"`
}

// End is the end of a run.
type End struct {
	Status  string `json:"status"`
	Guard   string `json:"guard,omitempty"`
	Details string `json:"details,omitempty"`
	Spent   Spent  `json:"spent,omitzero"`
	// Used is the usage of the attempt that the end cut off, which has no outcome.
	Used *Used `json:"used,omitempty"`
}

// CutOff is the usage of a parallel attempt that has no outcome.
type CutOff struct {
	Task string `json:"task"`
	Used Used   `json:"used"`
}

// The largest texts of a record, in bytes. Longer texts are cut in the middle. A record is far below
// the limit of a journal.
const (
	maxAnswer  = 8 << 10
	maxDetails = 1 << 10
	maxCarry   = 8 << 10
	maxItem    = 300
	maxOutput  = 2 << 10

	// MaxAnswer is the largest answer of a person.
	MaxAnswer = 8 << 10
)

// Decode parses a record of a journal.
func Decode(data []byte) (Record, error) {
	var r Record
	if err := json.Unmarshal(data, &r); err != nil {
		return Record{}, fmt.Errorf("reading a record of the journal: %w", err)
	}
	return r, nil
}

// Encode returns the record as one line for the journal.
func (r Record) Encode() ([]byte, error) {
	data, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("writing a %s record: %w", r.Kind, err)
	}
	return data, nil
}

// clip cuts the middle of a text that is longer than most bytes. The result is valid UTF-8.
func clip(text string, most int) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) <= most {
		return text
	}
	const gap = " […] "
	head := (most - len(gap)) / 2
	tail := len(text) - (most - len(gap) - head)
	for !utf8.RuneStart(text[head]) {
		head--
	}
	for !utf8.RuneStart(text[tail]) { // ends, since the text is valid and the limit is not tiny
		tail++
	}
	return text[:head] + gap + text[tail:]
}

// Bounded returns the record with its texts cut to their limits.
func (r Record) Bounded() Record {
	if r.Outcome != nil {
		o := *r.Outcome
		o.Answer, o.Details, o.Carry = clip(o.Answer, maxAnswer), clip(o.Details, maxDetails), clip(o.Carry, maxCarry)
		o.Refused, o.Unjudged = clip(o.Refused, maxDetails), clip(o.Unjudged, maxDetails)
		o.Steps = clipAll(o.Steps)
		o.Accept = boundedResults(o.Accept)
		r.Outcome = &o
	}
	if r.End != nil {
		end := *r.End
		end.Details = clip(end.Details, maxDetails)
		r.End = &end
	}
	r.Results = boundedResults(r.Results)
	r.Text = clip(r.Text, MaxAnswer)
	return r
}

// boundedResults returns a copy of results with their texts cut to their limits.
func boundedResults(results []plan.CheckResult) []plan.CheckResult {
	results = slices.Clone(results)
	for i, c := range results {
		c.Details, c.Output = clip(c.Details, maxDetails), clip(c.Output, maxOutput)
		c.Items = clipAll(c.Items)
		results[i] = c
	}
	return results
}

// clipAll limits the number of texts and their lengths.
func clipAll(texts []string) []string {
	texts = texts[:min(len(texts), plan.MaxFindings)]
	var out []string
	for _, text := range texts {
		out = append(out, clip(text, maxItem))
	}
	return out
}
