// Package export writes recordings in the formats of other programs: logs of Inspect
// (https://inspect.aisi.org.uk), and OpenTelemetry spans with the conventions for generative AI.
//
// A log of Inspect has a sample for each scenario and an epoch for each trial. A sample has the
// messages of its trial, a model event for each call, an info event for each decision of the
// agent and each injected fault, and the verdict as its score: "C" for pass, "I" for fail. A
// trial that the harness could not carry out has an error, and a skipped one has no score.
//
// Spans are the JSON form of OTLP 1, one line for each trial: a collector accepts a line as the
// body of a request to /v1/traces. A trial is a trace: a span invoke_agent, and below it a span
// chat for each call with its usage, retries and faults. The agent's decisions and the verdict
// (gen_ai.evaluation.result) are events of the agent's span. Ids are hashes of the run, the
// scenario and the number of the trial. Prompts and answers are not exported, but events of an
// agent may quote them.
//
// A recording has no date, and the clock of each trial starts at 0, so all trials begin at the
// time that the caller passes. If a scenario ran in real time, the recording does not have the
// times of its calls, and its spans follow one another.
package export

import (
	"fmt"
	"io"
	"time"

	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/internal/format"
)

// Visit receives a judged trial.
type Visit func(record.Scenario, record.Trial, measure.Facts, []gate.Finding) error

// Samples reads a recording from its beginning and passes each trial to a function.
type Samples func(Visit) error

// Head describes the run as a whole.
type Head struct {
	Run record.Run
	// Start is the start time of all trials.
	Start time.Time
	// Interrupted is true if the run ended before its plan was done.
	Interrupted bool
	// Problems describe damage of the recording.
	Problems []string
}

// Log collects the head of a log: Count must receive each sample before a log is written. It
// needs little memory for each scenario, and none for each trial. The zero value is ready to
// use.
type Log struct {
	samples       []string // ids of scenarios
	seen          map[string]bool
	models        []string
	usage, byRole map[string]usage
	trials        int
	passed        int
	failed        int
	unscored      int
	longest       time.Duration
	epochs        int
}

// Count adds a trial to the head. It is a Visit.
func (l *Log) Count(sc record.Scenario, tr record.Trial, f measure.Facts, findings []gate.Finding) error {
	if l.seen == nil {
		l.seen, l.usage, l.byRole = map[string]bool{}, map[string]usage{}, map[string]usage{}
	}
	if !l.seen[sc.Name] {
		l.seen[sc.Name] = true
		l.samples = append(l.samples, sampleID(sc.Name))
		if sc.Model != "" && len(l.models) < maxModels && !l.seen["\x00"+sc.Model] {
			l.seen["\x00"+sc.Model] = true
			l.models = append(l.models, sc.Model)
		}
	}
	addUsage(l.usage, l.byRole, &sc, tr.Calls)
	l.trials++
	l.epochs = max(l.epochs, tr.Head.N)
	l.longest = max(l.longest, tr.End.Duration)
	switch gate.VerdictOf(findings) {
	case gate.Pass:
		l.passed++
	case gate.Fail:
		l.failed++
	default:
		l.unscored++
	}
	return nil
}

// maxModels limits the models in the head.
const maxModels = 20

// JSON writes the log as one JSON object, sample by sample.
func (l *Log) JSON(w io.Writer, h Head, samples Samples) error {
	head, err := format.Marshal(l.header(h))
	if err != nil {
		return fmt.Errorf("write the head of the log: %w", err)
	}
	out := &joined{out: w, next: `,"samples":[`}
	out.write(head[:len(head)-1]) // without its closing brace
	err = samples(func(sc record.Scenario, tr record.Trial, f measure.Facts, findings []gate.Finding) error {
		data, err := format.Marshal(l.sample(h, &sc, &tr, &f, findings))
		if err != nil {
			return fmt.Errorf("write trial %d of %s: %w", tr.Head.N, sc.Name, err)
		}
		out.element(data)
		return out.err
	})
	if err != nil {
		return err
	}
	return out.end("]}\n")
}

// joined writes elements with separators, and remembers the first error.
type joined struct {
	out  io.Writer
	next string
	err  error
}

func (j *joined) write(data []byte) {
	if j.err == nil {
		_, j.err = j.out.Write(data)
	}
}

func (j *joined) element(data []byte) {
	j.write([]byte(j.next))
	j.next = ","
	j.write(data)
}

// end writes what follows the last element.
func (j *joined) end(text string) error {
	if j.next != "," { // there is no element
		text = j.next + text
	}
	j.write([]byte(text))
	if j.err != nil {
		return fmt.Errorf("write the log: %w", j.err)
	}
	return nil
}
