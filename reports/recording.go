package reports

import (
	"fmt"
	"io"

	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/internal/format"
)

// Judge measures and judges a recorded trial. An error means that the scenario's expectations
// are not valid.
type Judge func(record.Scenario, record.Trial) (measure.Facts, []gate.Finding, error)

// Rejudge returns the judge of a run: it checks the measures of a trial against the expectations
// in the recording. timings are those of the file beside the recording; without them the times
// of scenarios in real time are unknown. The judge is not safe for concurrent use.
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

// FromRecording judges each trial of a recording and adds it to a new Builder, whose report is
// that of the recorded run. extensions are the extensions that the judge measures. Problems of
// the recording become problems of the report. With an error, the builder has the trials before
// it.
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
			in.problem(e, "scenario %q is repeated and left out", e.Scenario.Name)
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

// trial judges a trial. Trials of a scenario are recorded in order; a trial out of order was
// inserted later and would count twice.
func (in *reading) trial(e record.Entry) error {
	t := e.Trial.Head
	head := in.heads[t.Scenario]
	if head == nil {
		return nil // reported by the reader
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

// end sets how the run ended. Without a close line it names only the scenarios that began.
func (in *reading) end() {
	if in.closed != nil {
		if judged := in.builder.trials.Total(); judged != in.closed.Trials {
			in.builder.Problem(fmt.Sprintf("the close line counts %s, and %d could be judged", format.Count(in.closed.Trials, "trial"), judged))
		}
		in.builder.Interrupted, in.builder.Stopped, in.builder.FailFast = in.closed.Interrupted, in.closed.Stopped, in.closed.FailFast
		in.builder.NotRun = in.closed.NotRun
		return
	}
	for name := range in.heads {
		if in.last[name] == 0 {
			in.builder.NotRun = append(in.builder.NotRun, name)
		}
	}
}
