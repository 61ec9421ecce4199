package reports

import (
	"fmt"
	"io"

	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/internal/format"
)

// Judge measures and judges one recorded trial. An error means that the
// scenario's expectations cannot be used.
type Judge func(record.Scenario, record.Trial) (measure.Facts, []gate.Finding, error)

// Rejudge returns the judge that a run uses: the measures of the trial against the
// expectations that the recording holds. Timings are those of the file beside the
// recording, for scenarios in real time; without them their times are unknown. The
// judge is not safe for concurrent use.
func Rejudge(language *gate.Language, timings []record.Timing) Judge {
	type trial struct {
		scenario string
		n        int
	}
	of := map[trial][]record.Timing{}
	for _, t := range timings {
		key := trial{t.Scenario, t.Trial}
		of[key] = append(of[key], t)
	}
	judges := map[string]*gate.Judge{}
	return func(s record.Scenario, t record.Trial) (measure.Facts, []gate.Finding, error) {
		judge := judges[s.Name]
		if judge == nil {
			var err error
			if judge, err = gate.ForScenario(language, &s); err != nil {
				return measure.Facts{}, nil, err
			}
			judges[s.Name] = judge
		}
		facts := measure.Trial(s, t, of[trial{t.Head.Scenario, t.Head.N}], language.Extensions())
		return facts, judge.Judge(facts), nil
	}
}

// FromRecording adds every trial of a recording to a new Builder, judged anew. The
// extensions are those that the judge measures.
// Closed, it gives the report of the run that was recorded. What is wrong with the
// recording becomes a problem of the report. If the error is not nil, the builder
// holds what was read before it.
func FromRecording(recording io.Reader, extensions []measure.Extension, judge Judge) (*Builder, error) {
	in := reading{builder: &Builder{Extensions: extensions}, judge: judge, heads: map[string]*record.Scenario{}, last: map[string]int{}}
	for entry, err := range record.Read(recording) {
		if err != nil {
			return in.builder, fmt.Errorf("build the report: %w", err)
		}
		if err := in.entry(entry); err != nil {
			return in.builder, fmt.Errorf("build the report: line %d of the recording: %w", entry.Line, err)
		}
	}
	in.end()
	return in.builder, nil
}

// reading is the state of FromRecording.
type reading struct {
	builder *Builder
	judge   Judge
	heads   map[string]*record.Scenario
	last    map[string]int // number of the last trial, by scenario
	closed  *record.Close
}

func (in *reading) entry(e record.Entry) error {
	switch {
	case e.Run != nil:
		in.builder.Run = *e.Run
	case e.Scenario != nil:
		if in.heads[e.Scenario.Name] != nil {
			in.problem(e, "scenario %q stands here a second time and is left out", e.Scenario.Name)
			return nil
		}
		in.heads[e.Scenario.Name] = e.Scenario
	case e.Trial != nil:
		return in.trial(e)
	case e.Close != nil:
		in.closed = e.Close
	case e.Problem != nil:
		in.builder.Problem(e.Problem.String())
	}
	return nil
}

// trial judges a trial. Trials of a scenario are recorded in order, so one that
// does not come after the last was put there by somebody, and would count twice.
func (in *reading) trial(e record.Entry) error {
	t := e.Trial.Head
	head := in.heads[t.Scenario]
	if head == nil {
		return nil // the reader has reported it
	}
	if t.N <= in.last[t.Scenario] || t.N > head.Trials {
		in.problem(e, "trial %d of %q does not follow trial %d of %d and is left out", t.N, t.Scenario, in.last[t.Scenario], head.Trials)
		return nil
	}
	in.last[t.Scenario] = t.N
	facts, findings, err := in.judge(*head, *e.Trial)
	if err != nil {
		return fmt.Errorf("judge scenario %q: %w", t.Scenario, err)
	}
	for i := range findings {
		if findings[i].Trial == 0 {
			findings[i].Trial = t.N
		}
	}
	in.builder.Add(*head, facts, findings)
	return nil
}

func (in *reading) problem(e record.Entry, format string, args ...any) {
	in.builder.Problem(record.Problem{Line: e.Line, Message: fmt.Sprintf(format, args...)}.String())
}

// end fills in how the run ended. Without a close line only those scenarios
// can be named that were begun.
func (in *reading) end() {
	if in.closed != nil {
		if judged := in.builder.trials.Total(); judged != in.closed.Trials {
			in.builder.Problem(fmt.Sprintf("the close line counts %s, and %d could be judged", format.Plural(in.closed.Trials, "trial"), judged))
		}
		in.builder.Interrupted, in.builder.Stopped = in.closed.Interrupted, in.closed.Stopped
		in.builder.NotRun = in.closed.NotRun
		return
	}
	for name := range in.heads {
		if in.last[name] == 0 {
			in.builder.NotRun = append(in.builder.NotRun, name)
		}
	}
}
