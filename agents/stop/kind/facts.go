package kind

import (
	"fmt"
	"time"

	"github.com/rehearse-dev/rehearse/agents/stop"
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/harness/record"
)

// GuardFacts describe the decisions of a stop guard in a trial: the metrics of document
// 000 that one trial has. All are 0 where no guard was asked. How long judging took is
// not recorded, because recordings must repeat; "rehearse detect" measures it.
type GuardFacts struct {
	Judged  int `cel:"judged" json:"judged"`   // answers that were judged
	Refused int `cel:"refused" json:"refused"` // answers at which the agent must not stop
	Forced  int `cel:"forced" json:"forced"`   // refusals after which the agent was made to go on
	// Allowed is true if the agent was allowed to stop at the last judged answer.
	Allowed    bool           `cel:"allowed" json:"allowed"`
	Detections int            `cel:"detections" json:"detections"`
	By         map[string]int `cel:"by" json:"by,omitempty"`     // detections by category
	Steps      int            `cel:"steps" json:"steps"`         // steps that refusals named
	Executed   int            `cel:"executed" json:"executed"`   // steps that the next judged answer reported as done
	Execution  float64        `cel:"execution" json:"execution"` // seconds from forced refusals to the next judgements
	// ExecutionKnown is false if time was real, as recordings do not contain it.
	ExecutionKnown bool `cel:"execution_known" json:"execution_known"`

	// The labels of expect.stops, where the scenario gives them. Positive means
	// defers.
	Labelled       int `cel:"labelled" json:"labelled"`
	Deferred       int `cel:"deferred" json:"deferred"`   // answers labelled defers
	Prevented      int `cel:"prevented" json:"prevented"` // answers labelled defers after which the agent was made to go on
	FalsePositives int `cel:"false_positives" json:"false_positives"`
	FalseNegatives int `cel:"false_negatives" json:"false_negatives"`
	// Misjudged and Outcomes are those of measure.StopFacts. Misjudged also reports that
	// the numbers of answers and of labels differ.
	Misjudged []string `cel:"misjudged" json:"misjudged,omitempty"`
	Outcomes  string   `cel:"outcomes" json:"outcomes,omitempty"`
}

// factsOf returns the facts of a trial, and compares the decisions with the labels in core.Stops.
func factsOf(sc *record.Scenario, tr *record.Trial, core *measure.Facts) any {
	f := &GuardFacts{}
	forcedAt := time.Duration(-1)
	for i := range tr.Events {
		e := &tr.Events[i]
		j, ok := event.Read[stop.Judgement](&e.Event)
		if !ok {
			continue
		}
		if forcedAt >= 0 {
			f.Execution += (e.At - forcedAt).Seconds()
			forcedAt = -1
		}
		f.add(j)
		if j.Forced {
			forcedAt = e.At
		}
		f.label(sc.Expect.Stops, j, e.Detail)
	}
	if n := len(sc.Expect.Stops); n > 0 && n != f.Judged {
		f.Misjudged = append(f.Misjudged, fmt.Sprintf("judged answers: %d, labels: %d", f.Judged, n))
	}
	f.ExecutionKnown = f.Judged > 0 && !sc.RealTime
	core.Stops = measure.StopFacts{Misjudged: f.Misjudged, Outcomes: f.Outcomes}
	return f
}

func (f *GuardFacts) add(j stop.Judgement) {
	f.Judged++
	f.Allowed = j.Allow
	if !f.Allowed {
		f.Refused++
		f.Steps += j.Steps
	}
	if j.Forced {
		f.Forced++
	}
	if j.Executed != nil {
		f.Executed += *j.Executed
	}
	f.Detections += j.Detections
	for category, n := range j.Categories {
		if f.By == nil {
			f.By = map[string]int{}
		}
		f.By[string(category)] += n
	}
}

// label compares the judgement that was just added with its label, if it has one.
func (f *GuardFacts) label(labels []string, j stop.Judgement, reason string) {
	if f.Judged > len(labels) {
		return
	}
	f.Labelled++
	label := labels[f.Judged-1]
	if label == string(stop.Defers) {
		f.Deferred++
	}
	f.Outcomes += outcome(label == string(stop.Defers), !f.Allowed)
	switch {
	case label == string(stop.Defers) && f.Allowed:
		f.FalseNegatives++
		f.misjudge(label, "was allowed to stop", reason)
	case label != string(stop.Defers) && !f.Allowed:
		f.FalsePositives++
		f.misjudge(label, "was refused", reason)
	case label == string(stop.Defers) && j.Forced:
		f.Prevented++
	}
}

// outcome returns the letter of an answer in Outcomes.
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
