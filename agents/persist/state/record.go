package state

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	// Its first version means what the standard library's does, and reads a journal of
	// 100 MB in a fraction of the time.
	json "github.com/go-json-experiment/json/v1"

	"github.com/rehearse-dev/rehearse/agents/persist/check"
)

// Kind says what a record tells.
type Kind string

// The kinds of Record.
const (
	// KindBegin opens a journal: which plan it is of.
	KindBegin Kind = "begin"
	// KindIntent is written before an attempt at a task, KindOutcome after it.
	KindIntent  Kind = "intent"
	KindOutcome Kind = "outcome"
	// KindCheck holds what checks found.
	KindCheck Kind = "check"
	// KindDerive begins a round: tasks made of failed checks, and failed tasks that
	// are tried once more.
	KindDerive Kind = "derive"
	// KindSigns holds the signs of a premature stop, where they changed.
	KindSigns Kind = "signs"
	// KindContext is a look at the files in context.
	KindContext Kind = "context"
	// KindSegment begins a segment.
	KindSegment Kind = "segment"
	// KindEnd closes a run, KindReopen goes on after it.
	KindEnd    Kind = "end"
	KindReopen Kind = "reopen"
)

// Record is one line of the journal. Only the fields of its kind are set. No
// record reports processes, so that the journal of a run that was killed and
// resumed is that of an undisturbed one.
type Record struct {
	Kind Kind `json:"kind"`
	// At is the time that the run had worked, without the time between two of its
	// processes and without what a killed one did after its last record.
	At time.Duration `json:"at"`

	// Plan is the digest of the plan of KindBegin.
	Plan string `json:"plan,omitempty"`

	// Task is that of KindIntent and KindOutcome; Attempt is from 1.
	Task    string   `json:"task,omitempty"`
	Attempt int      `json:"attempt,omitempty"`
	Outcome *Outcome `json:"outcome,omitempty"`

	// N is the number of the check, round or segment, from 1.
	N int `json:"n,omitempty"`
	// Why says when a check was made.
	Why Why `json:"why,omitempty"`
	// Results are what KindCheck found: of every check, or, with whyAfterTask, of those
	// that had failed.
	Results []check.Result `json:"results,omitempty"`

	// Tasks are those of a round, in the order in which they are done.
	Tasks []Derived `json:"tasks,omitempty"`

	Signs []Sign `json:"signs,omitempty"`

	// Context changes the files in context: with an intent those of the task enter,
	// with an outcome those that the attempt used.
	Context *Change `json:"context,omitempty"`

	End *End `json:"end,omitempty"`
}

// Key names an attempt: that of an intent and of its outcome. It is the same when
// the attempt is made again after a crash.
func (r Record) Key() string { return key(r.Task, r.Attempt) }

func key(task string, attempt int) string { return task + "#" + strconv.Itoa(attempt) }

// Why says when a check was made.
type Why string

// FailedOnly reports whether only the checks that had failed are made.
func (w Why) FailedOnly() bool { return w == whyAfterTask }

// When checks are made.
const (
	whyInterval   Why = "interval"    // some tasks were done since the last one
	whyQueueEmpty Why = "queue-empty" // no task can be run
	whyAfterTask  Why = "after-task"  // a task of a round is through: the failed checks only
	whyFinal      Why = "final"       // the tasks of a round are through
)

// Outcome is how an attempt ended.
type Outcome struct {
	// Grade is "done", "failed", "blocked", "escalated", "split" or "paused".
	Grade   string `json:"grade"`
	Answer  string `json:"answer,omitempty"`
	Details string `json:"details,omitempty"`
	Carry   string `json:"carry,omitempty"`
	// Cause is why the supervisor ended the attempt: CauseStagnation or
	// CauseNoProgress, and the task goes to the end of the queue; empty if it did not.
	Cause string `json:"cause,omitempty"`
	// Later says of a failure that it is none of the task's: what the worker needs was
	// not there.
	Later bool `json:"later,omitempty"`
	// Calls are the tool calls of the attempt.
	Calls int `json:"calls,omitempty"`
	// Refused is why the stop guard refuses the answer, Steps what it says is left.
	Refused string   `json:"refused,omitempty"`
	Steps   []string `json:"steps,omitempty"`
	// Unjudged is why the stop guard could not judge the answer.
	Unjudged string `json:"unjudged,omitempty"`
	// Inert says that the worker has no means to change anything.
	Inert bool `json:"inert,omitempty"`
	// Spent is what the whole run has spent after it.
	Spent Spent `json:"spent,omitzero"`
}

// The grades of an Outcome.
const (
	gradeDone      = "done"
	gradeFailed    = "failed"
	gradeBlocked   = "blocked"
	gradeEscalated = "escalated"
	gradeSplit     = "split"
	// GradePaused is an attempt that a cap of the budget ended after an answer. The
	// task goes on from there when the run does, and has not failed.
	GradePaused = "paused"
)

// Why the supervisor ends an attempt.
const (
	CauseStagnation = "stagnation"
	CauseNoProgress = "no-progress"
)

// Spent is what a run has used; see package budget.
type Spent struct {
	Calls         int     `json:"calls,omitempty"`
	Tokens        int     `json:"tokens,omitempty"`
	Cost          float64 `json:"cost,omitempty"`
	TokensUnknown string  `json:"tokens_unknown,omitempty"`
	CostUnknown   string  `json:"cost_unknown,omitempty"`
}

// Derived is a task of a round: one that was made of a failed check, or, without
// Do, one that had failed and is tried once more.
type Derived struct {
	ID   string     `json:"id"`
	Do   string     `json:"do,omitempty"`
	By   string     `json:"by,omitempty"`
	From check.Name `json:"from"`
	// Of is the task whose answer deferred this one, Step what the answer says of it;
	// without Step it is all of the deferral.
	Of   string `json:"of,omitempty"`
	Step string `json:"step,omitempty"`
}

// End is how a run ended.
type End struct {
	Status  string `json:"status"`
	Guard   string `json:"guard,omitempty"`
	Details string `json:"details,omitempty"`
	Spent   Spent  `json:"spent,omitzero"`
}

// The bounds of a record's texts, in bytes; what is longer is cut in the middle,
// with a note. A record holds at most some of them, so it stays far below what a
// journal takes.
const (
	maxAnswer  = 8 << 10
	maxDetails = 1 << 10
	maxCarry   = 8 << 10
	maxItem    = 300
	maxOutput  = 2 << 10
)

// Decode reads a record as a journal holds it.
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

// clip bounds a text from outside to a number of bytes: its beginning and its end
// stay, and it is valid UTF-8.
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
	for !utf8.RuneStart(text[tail]) { // ends, as the text is valid and most is no tiny number
		tail++
	}
	return text[:head] + gap + text[tail:]
}

// Bounded returns the record with its texts cut to the sizes that a journal holds.
func (r Record) Bounded() Record {
	if r.Outcome != nil {
		o := *r.Outcome
		o.Answer, o.Details, o.Carry = clip(o.Answer, maxAnswer), clip(o.Details, maxDetails), clip(o.Carry, maxCarry)
		o.Refused, o.Unjudged = clip(o.Refused, maxDetails), clip(o.Unjudged, maxDetails)
		o.Steps = clipAll(o.Steps)
		r.Outcome = &o
	}
	if r.End != nil {
		end := *r.End
		end.Details = clip(end.Details, maxDetails)
		r.End = &end
	}
	r.Results = slices.Clone(r.Results)
	for i, c := range r.Results {
		c.Details, c.Output = clip(c.Details, maxDetails), clip(c.Output, maxOutput)
		c.Items = clipAll(c.Items)
		r.Results[i] = c
	}
	return r
}

// clipAll bounds the number of texts, and each.
func clipAll(texts []string) []string {
	texts = texts[:min(len(texts), check.MaxItems)]
	var out []string
	for _, text := range texts {
		out = append(out, clip(text, maxItem))
	}
	return out
}

// Timeless returns the record without its times: what two runs with the same workers have
// in common.
func (r Record) Timeless() Record {
	r.At = 0
	r.Results = slices.Clone(r.Results)
	for i := range r.Results {
		r.Results[i].Took = 0
	}
	return r
}
