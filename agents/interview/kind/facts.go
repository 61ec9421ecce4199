package kind

import (
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/internal/format"
)

// InterviewFacts describe an interview, as its service and its client reported it.
type InterviewFacts struct {
	// Submissions counts what the client sent and the service examined.
	Submissions int `cel:"submissions" json:"submissions"`
	// Answered counts submissions that were stored as an answer, Repeated those that had
	// been received before, and Refused those that changed nothing, by error code.
	Answered int            `cel:"answered" json:"answered"`
	Repeated int            `cel:"repeated" json:"repeated"`
	Refused  map[string]int `cel:"refused" json:"refused,omitempty"`
	// Queued counts questions that were served from a queue, QueuedCalls the calls that
	// were made meanwhile, which must be 0.
	Queued      int `cel:"queued" json:"queued"`
	QueuedCalls int `cel:"queued_calls" json:"queued_calls"`
	// Validated counts replies that were validated, Rejected the invalid ones, by rule, and
	// Warned those that were used with warnings.
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

// interviewName is the name of state events of agents/interview.
const interviewName = "interview"

// factsOf returns the facts of a trial. A call for a queued question is an invariant
// violation, which it adds to core.
func factsOf(_ *record.Scenario, tr *record.Trial, core *measure.Facts) any {
	f := &InterviewFacts{}
	for i := range tr.Events {
		e := &tr.Events[i].Event
		switch {
		case e.Kind == event.Iteration && e.Name == "submission":
			f.submission(e.Attrs)
		case e.Kind == event.Verdict && e.Name == "validator":
			f.validated(e.Attrs)
		case e.Kind == event.Guard:
			f.guard(e.Name)
		case e.Kind == event.State && e.Name == interviewName:
			f.Step, _ = e.Attrs["step"].(string)
		case e.Kind == event.Checkpoint && e.Name == "commit":
			f.Commits++
		case e.Kind == event.Checkpoint && e.Name == "answers":
			f.Answers = measure.Int(e.Attrs["answers"])
		}
	}
	if n := f.QueuedCalls; n > 0 {
		core.Run.Violations = append(core.Run.Violations, "a question that was queued was asked for with "+format.Plural(n, "call"))
	}
	return f
}

func (f *InterviewFacts) submission(attrs map[string]any) {
	f.Submissions++
	if attrs["answered"] == true {
		f.Answered++
	}
	if attrs["repeated"] == true {
		f.Repeated++
	}
	if code, _ := attrs["code"].(string); code != "" {
		measure.Increment(&f.Refused, code)
	}
	if attrs["queued"] == true {
		f.Queued++
		f.QueuedCalls += measure.Int(attrs["calls"])
	}
}

func (f *InterviewFacts) validated(attrs map[string]any) {
	f.Validated++
	if attrs["valid"] != true {
		rule, _ := attrs["rule"].(string)
		measure.Increment(&f.Rejected, rule)
	} else if measure.Int(attrs["warnings"]) > 0 {
		f.Warned++
	}
}

func (f *InterviewFacts) guard(name string) {
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
