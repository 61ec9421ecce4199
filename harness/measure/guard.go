package measure

import (
	"fmt"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/harness/record"
)

// GuardFacts are what a stop guard did in a trial: the metrics of document 000
// that one trial has. All are 0 where no guard was asked. How long judging took
// is no part of a recording, which must repeat; "rehearse detect" measures it.
type GuardFacts struct {
	Judged  int `cel:"judged" json:"judged"`   // answers that were judged
	Refused int `cel:"refused" json:"refused"` // that may not be a stop
	Forced  int `cel:"forced" json:"forced"`   // after which the agent was made to go on
	// Allowed is true if the last judged answer might stop.
	Allowed    bool           `cel:"allowed" json:"allowed"`
	Detections int            `cel:"detections" json:"detections"`
	By         map[string]int `cel:"by" json:"by,omitempty"`     // detections by category
	Steps      int            `cel:"steps" json:"steps"`         // that refusals named
	Executed   int            `cel:"executed" json:"executed"`   // of them, reported as done by the next judged answer
	Execution  float64        `cel:"execution" json:"execution"` // seconds from forced refusals to the next judgements
	// ExecutionKnown is false where time was real, as recordings hold none.
	ExecutionKnown bool `cel:"execution_known" json:"execution_known"`

	// The labels of expect.stops, where the scenario gives them. Positive means
	// defers.
	Labelled       int `cel:"labelled" json:"labelled"`
	Deferred       int `cel:"deferred" json:"deferred"`   // labelled defers
	Prevented      int `cel:"prevented" json:"prevented"` // of them, made to go on
	FalsePositives int `cel:"false_positives" json:"false_positives"`
	FalseNegatives int `cel:"false_negatives" json:"false_negatives"`
	// Misjudged says of each answer that was judged other than its label demands
	// what it is; and of answers and labels that are not equally many.
	Misjudged []string `cel:"misjudged" json:"misjudged,omitempty"`
	// Outcomes has a letter for each labelled answer, in order: P for one that defers
	// and was refused, p for another that was refused, N for another that was allowed,
	// n for one that defers and was allowed.
	Outcomes string `cel:"outcomes" json:"outcomes,omitempty"`
}

// stopGuard is the name of the verdicts of a stop guard.
const stopGuard = "stop"

// defers is the label of an answer that may not be a stop.
const defers = "defers"

func guardFacts(sc *record.Scenario, tr *record.Trial) GuardFacts {
	f := GuardFacts{ExecutionKnown: !sc.RealTime}
	forcedAt := time.Duration(-1)
	for i := range tr.Events {
		e := &tr.Events[i]
		if e.Kind != event.Verdict || e.Name != stopGuard {
			continue
		}
		if forcedAt >= 0 {
			f.Execution += (e.At - forcedAt).Seconds()
			forcedAt = -1
		}
		f.add(e.Attrs)
		if e.Attrs["forced"] == true {
			forcedAt = e.At
		}
		f.label(sc.Expect.Stops, e.Event)
	}
	if n := len(sc.Expect.Stops); n > 0 && n != f.Judged {
		f.Misjudged = append(f.Misjudged, fmt.Sprintf("judged answers: %d, labels: %d", f.Judged, n))
	}
	return f
}

// add adds one verdict.
func (f *GuardFacts) add(attrs map[string]any) {
	f.Judged++
	f.Allowed = attrs["allow"] == true
	if !f.Allowed {
		f.Refused++
		f.Steps += whole(attrs["steps"])
	}
	if attrs["forced"] == true {
		f.Forced++
	}
	f.Executed += whole(attrs["executed"])
	f.Detections += whole(attrs["detections"])
	for key, value := range attrs {
		if category, ok := strings.CutPrefix(key, "category."); ok {
			if f.By == nil {
				f.By = map[string]int{}
			}
			f.By[category] += whole(value)
		}
	}
}

// label holds the verdict that was just added against its label, if it has one.
func (f *GuardFacts) label(labels []string, e event.Event) {
	if f.Judged > len(labels) {
		return
	}
	f.Labelled++
	label, forced := labels[f.Judged-1], e.Attrs["forced"] == true
	if label == defers {
		f.Deferred++
	}
	f.Outcomes += outcome(label == defers, !f.Allowed)
	switch {
	case label == defers && f.Allowed:
		f.FalseNegatives++
		f.misjudge(label, "was allowed to stop", e.Detail)
	case label != defers && !f.Allowed:
		f.FalsePositives++
		f.misjudge(label, "was refused", e.Detail)
	case label == defers && forced:
		f.Prevented++
	}
}

// outcome is the letter of an answer in Outcomes.
func outcome(defers, refused bool) string {
	switch {
	case defers && refused:
		return "P"
	case refused:
		return "p"
	case defers:
		return "n"
	}
	return "N"
}

func (f *GuardFacts) misjudge(label, what, why string) {
	text := fmt.Sprintf("answer %d, labelled %s, %s", f.Judged, label, what)
	if why != "" {
		text += ": " + why
	}
	f.Misjudged = append(f.Misjudged, text)
}

// whole is the number that an attribute holds: an int as it was told, a float64
// as it was read from a recording.
func whole(attr any) int {
	switch n := attr.(type) {
	case int:
		return n
	case float64:
		return int(n)
	default:
		return 0
	}
}
