package kind

import (
	"github.com/rehearse-dev/rehearse/agents/interview"
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/internal/format"
)

// InterviewFacts describe an interview, as its service and its client reported it.
type InterviewFacts struct {
	// Submissions counts what the client sent and the service examined.
	Submissions int `cel:"submissions" json:"submissions"`
	// Answered counts submissions that were stored as an answer, Repeated submissions that had
	// been received before, and Refused submissions that changed nothing, by error code.
	Answered int            `cel:"answered" json:"answered"`
	Repeated int            `cel:"repeated" json:"repeated"`
	Refused  map[string]int `cel:"refused" json:"refused,omitempty"`
	// Queued counts questions that were served from a queue, QueuedCalls the calls that
	// were made meanwhile, which must be 0.
	Queued      int `cel:"queued" json:"queued"`
	QueuedCalls int `cel:"queued_calls" json:"queued_calls"`
	// Validated counts replies that were validated, Rejected invalid replies, by rule, and
	// Warned replies that were used despite warnings.
	Validated int            `cel:"validated" json:"validated"`
	Rejected  map[string]int `cel:"rejected" json:"rejected,omitempty"`
	Warned    int            `cel:"warned" json:"warned"`
	// TransportRetries and ValidationRetries count attempts after the first one.
	TransportRetries  int `cel:"transport_retries" json:"transport_retries"`
	ValidationRetries int `cel:"validation_retries" json:"validation_retries"`
	// Exhausted counts messages for which every attempt failed.
	Exhausted int `cel:"exhausted" json:"exhausted"`
	// Fallbacks counts messages that were replaced by a text of the prompts.
	Fallbacks int `cel:"fallbacks" json:"fallbacks"`
	// Lost counts calls that a crash interrupted, each of which was repeated.
	Lost int `cel:"lost" json:"lost"`
	// Trimmed counts calls for which a part of the history was left out.
	Trimmed int `cel:"trimmed" json:"trimmed"`
	// Step is the step at the end, Answers the number of answers stored by then, and
	// Commits the number of commits to the store.
	Step    string `cel:"step" json:"step,omitempty"`
	Answers int    `cel:"answers" json:"answers"`
	Commits int    `cel:"commits" json:"commits"`
}

// answersStored is the event by which the driver reports the number of stored answers at the
// end of a trial, and of the invariants that it checked.
type answersStored struct {
	Answers    int `json:"answers"`
	Invariants int `json:"promises"`
}

// Event implements event.Payload.
func (answersStored) Event() (event.Kind, string) { return event.Checkpoint, "answers" }

// factsOf returns the facts of a trial. A call for a queued question is an invariant
// violation, which it adds to core.
func factsOf(_ *record.Scenario, tr *record.Trial, core *measure.Facts) any {
	f := &InterviewFacts{}
	for i := range tr.Events {
		f.add(&tr.Events[i].Event)
	}
	if n := f.QueuedCalls; n > 0 {
		core.Run.Violations = append(core.Run.Violations, "a question that was queued was asked for with "+format.Plural(n, "call"))
	}
	return f
}

func (f *InterviewFacts) add(e *event.Event) {
	if s, ok := event.Read[interview.Submitted](e); ok {
		f.addSubmission(s)
	}
	if v, ok := event.Read[interview.Validated](e); ok {
		f.addValidation(v)
	}
	if m, ok := event.Read[interview.Moved](e); ok {
		f.Step = m.Step
	}
	if _, ok := event.Read[interview.Committed](e); ok {
		f.Commits++
	}
	if a, ok := event.Read[answersStored](e); ok {
		f.Answers = a.Answers
	}
	if e.Kind == event.Guard {
		f.addGuard(e.Name)
	}
}

func (f *InterviewFacts) addSubmission(s interview.Submitted) {
	f.Submissions++
	if s.Answered {
		f.Answered++
	}
	if s.Repeated {
		f.Repeated++
	}
	if s.Code != "" {
		measure.Increment(&f.Refused, s.Code)
	}
	if s.Queued {
		f.Queued++
		f.QueuedCalls += s.Calls
	}
}

func (f *InterviewFacts) addValidation(v interview.Validated) {
	f.Validated++
	switch {
	case !v.Valid:
		measure.Increment(&f.Rejected, v.Rule)
	case v.Warnings > 0:
		f.Warned++
	}
}

func (f *InterviewFacts) addGuard(name string) {
	switch name {
	case "transport-retry":
		f.TransportRetries++
	case "validation-retry":
		f.ValidationRetries++
	case "exhausted":
		f.Exhausted++
	case "fallback":
		f.Fallbacks++
	case "lost-call":
		f.Lost++
	case "trimmed":
		f.Trimmed++
	}
}
