package shard

import (
	"fmt"
	"io"
	"iter"
	"slices"

	"github.com/rehearse-dev/rehearse/harness/record"
)

// Source is the recording of a part of a run.
type Source struct {
	// Name is used in errors.
	Name string
	// Recording is read three times from its beginning.
	Recording io.ReadSeeker
}

// Sink receives the whole run in the order of its plan. The first error ends the merging.
type Sink interface {
	// Begin begins the run.
	Begin(record.Run) error
	// Scenario begins a scenario; its trials follow.
	Scenario(record.Scenario) error
	// Trial ends a trial of the scenario that began last.
	Trial(record.Scenario, record.Trial) error
}

// Merge reads the recordings of all parts of a run, in any order, and sends the whole run to the
// sink. Memory is limited by the largest trial. It checks the sources before it calls the sink: the
// error is an *AlteredError for a recording that was changed after its run, and a *MismatchError for
// parts of different runs, for duplicate parts, and for missing trials.
func Merge(sources []Source, sink Sink) error {
	inventories := make([]Inventory, len(sources))
	for i, source := range sources {
		var err error
		if inventories[i], err = takeInventory(source); err != nil {
			return err
		}
	}
	whole, err := Check(inventories)
	if err != nil {
		return err
	}
	if err := sink.Begin(whole); err != nil {
		return err
	}
	readers := map[int]*partReader{}
	for i, source := range sources {
		r, err := newPartReader(source)
		if err != nil {
			return err
		}
		defer r.stop()
		readers[inventories[i].Run.Shard.Index] = r
	}
	for _, planned := range inventories[0].Run.Shard.Plan {
		if err := readers[planned.Shard].copy(planned, sink); err != nil {
			return err
		}
	}
	return nil
}

// AlteredError means that a recording was changed after its run.
type AlteredError struct{ Name, Problem string }

// Error implements error.
func (e *AlteredError) Error() string {
	return fmt.Sprintf("%s was altered after the run: %s", e.Name, e.Problem)
}

// Inventory lists the contents of the recording of a part.
type Inventory struct {
	// Name is the name of the source.
	Name string
	Run  record.Run
	// Trials has the numbers of the trials of each scenario, in their order.
	Trials map[string][]int
}

// takeInventory reads a recording, and verifies it.
func takeInventory(s Source) (Inventory, error) {
	found := Inventory{Name: s.Name, Trials: map[string][]int{}}
	if err := s.rewind(); err != nil {
		return found, err
	}
	chain, err := record.Verify(s.Recording)
	if err != nil {
		return found, fmt.Errorf("read %s: %w", s.Name, err)
	}
	if chain.Altered {
		return found, &AlteredError{s.Name, chain.Problems[0].String()}
	}
	if err := s.rewind(); err != nil {
		return found, err
	}
	for entry, err := range record.Read(s.Recording) {
		switch {
		case err != nil:
			return found, fmt.Errorf("read %s: %w", s.Name, err)
		case entry.Run != nil:
			found.Run = *entry.Run
		case entry.Trial != nil:
			head := entry.Trial.Head
			found.Trials[head.Scenario] = append(found.Trials[head.Scenario], head.N)
		}
	}
	return found, nil
}

func (s Source) rewind() error {
	if _, err := s.Recording.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("read %s from its beginning: %w", s.Name, err)
	}
	return nil
}

// partReader reads the scenarios of a part in order.
type partReader struct {
	name string
	next func() (record.Entry, error, bool)
	stop func()
}

func newPartReader(s Source) (*partReader, error) {
	if err := s.rewind(); err != nil {
		return nil, err
	}
	next, stop := iter.Pull2(record.Read(s.Recording))
	return &partReader{s.Name, next, stop}, nil
}

// copy sends the next scenario with its trials to the sink. It must be the planned scenario.
func (r *partReader) copy(planned record.Planned, sink Sink) error {
	var head record.Scenario
	for sent := 0; sent < planned.Trials; {
		entry, err, ok := r.next()
		switch {
		case !ok:
			err = io.ErrUnexpectedEOF // it had the trials before
			fallthrough
		case err != nil:
			return fmt.Errorf("read %s again: %w", r.name, err)
		case entry.Scenario != nil:
			head = *entry.Scenario
			if head.Name != planned.Name || head.Trials != planned.Trials {
				return &MismatchError{fmt.Sprintf("%s has %s where its plan has %s", r.name, head.Name, planned.Name)}
			}
			err = sink.Scenario(head)
		case entry.Trial != nil:
			sent++
			err = sink.Trial(head, *entry.Trial)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// whole returns the header of the run to which a part belongs.
func whole(part record.Run) record.Run {
	run := part
	run.ID, run.Shard, run.Scenarios, run.Trials = part.Shard.Run, nil, len(part.Shard.Plan), 0
	for _, planned := range part.Shard.Plan {
		run.Trials += planned.Trials
	}
	return run
}

// Plan assigns the scenarios of a run to n parts.
func Plan(items []Item, n int) []record.Planned {
	plan := make([]record.Planned, len(items))
	for i, part := range Assign(items, n) {
		plan[i] = record.Planned{Name: items[i].Name, Trials: items[i].Trials, Shard: part}
	}
	return plan
}

// Header returns the header of a part. run counts the scenarios of the part, and wholeRun those of all parts.
func (p Part) Header(run, wholeRun record.Run, plan []record.Planned, options []string) record.Run {
	run.Shard = &record.Shard{Index: p.Index, Of: p.Of, Run: wholeRun.ID, Options: slices.Clone(options), Plan: plan}
	return run
}
