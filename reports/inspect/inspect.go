// Package inspect exports a recording as an evaluation log of Inspect (version 2 of
// the format, https://inspect.aisi.org.uk/eval-logs.html), so that its viewer and its
// Python API open it: as one JSON file, or as an .eval file, which is a zip archive.
//
// A scenario is a sample and a trial is an epoch. A sample has the messages of its
// trial, a model event for each call, an info event for each thing that the agent
// decided and for each fault that struck, and the verdict as its score: "C" for pass,
// "I" for fail. A trial that the harness could not carry out has an error, and one
// that was skipped has no score.
//
// A recording holds no date. Each trial has a clock of its own that begins at 0, so
// all samples of a log begin at the time that the caller names.
package inspect

import (
	"fmt"
	"io"
	"time"

	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/internal/format"
)

// Each is told a judged trial.
type Each func(record.Scenario, record.Trial, measure.Facts, []gate.Finding) error

// Samples reads a recording from its beginning and tells each trial.
type Samples func(Each) error

// Head is what a log says of the run as a whole.
type Head struct {
	Run record.Run
	// Start is when the run is said to have begun.
	Start time.Time
	// Interrupted says that the run was stopped before its plan was done.
	Interrupted bool
	// Problems say what is wrong with the recording.
	Problems []string
}

// Log gathers what the head of a log says of all samples: Count must have been told
// each of them before a log is written. It keeps little for each scenario, and
// nothing for each trial. The zero value is empty and ready.
type Log struct {
	names         names
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

// Count adds a trial to what the head says. It implements Each.
func (l *Log) Count(sc record.Scenario, tr record.Trial, f measure.Facts, findings []gate.Finding) error {
	if l.seen == nil {
		l.seen, l.usage, l.byRole = map[string]bool{}, map[string]usage{}, map[string]usage{}
	}
	if !l.seen[sc.Name] {
		l.seen[sc.Name] = true
		l.samples = append(l.samples, l.names.of(sc.Name))
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

// maxModels is how many models the head names.
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
	if out.next != "," {
		out.write([]byte(out.next))
	}
	out.write([]byte("]}\n"))
	if out.err != nil {
		return fmt.Errorf("write the log: %w", out.err)
	}
	return nil
}

// joined writes elements with next between them, and keeps the first error.
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
