package explore

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"hash/fnv"

	"github.com/rehearse-dev/rehearse/harness/drive"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/internal/seed"
	"github.com/rehearse-dev/rehearse/scenarios/perturb"
)

// defaultCompare is the default of Options.CompareOneIn.
const defaultCompare = 100

// ForkError reports that a run that starts in the middle of the golden path differs from the same run from
// the beginning. It is a bug of the kind of agent or of this package.
type ForkError struct {
	// Run is the name of the run; Line is the first line of the recording that differs.
	Run  string
	Line int
	// Full and Forked are that line, shortened.
	Full, Forked string
}

// Error names the run and both lines.
func (e *ForkError) Error() string {
	return fmt.Sprintf("a run that shares the beginning of the golden path differs from the full run in line %d of the recording of %s: "+
		"expected %s, got %s; --thorough drives every run from the beginning", e.Line, e.Run, e.Full, e.Forked)
}

// recordTape records the golden path so that runs can start in the middle of it, if the agent can.
func (e *explorer) recordTape(ctx context.Context) error {
	if e.opts.Thorough {
		return nil
	}
	tape := drive.NewTape(ctx, e.driver)
	if tape == nil || interrupted(ctx) {
		return nil
	}
	if err := compareTrials(e.golden.Trial, tape.Trial()); err != nil {
		return err
	}
	e.tape = tape
	return nil
}

// driverOf returns the driver of a run, which starts as late as possible.
func (e *explorer) driverOf(ps []perturb.Perturbation) (drive.Driver, error) {
	if e.tape == nil {
		return e.driver.Perturbed(ps)
	}
	forked, shared, err := e.tape.Fork(ps)
	if err != nil || !shared || !e.compares(ps) {
		return forked, err
	}
	full, err := e.driver.Perturbed(ps)
	return compared{forked, full}, err
}

// compares reports whether a run is also driven from the beginning, as the seed chooses.
func (e *explorer) compares(ps []perturb.Perturbation) bool {
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(key(ps)))
	return seed.Mix(e.opts.Seed+hash.Sum64())%uint64(cmp.Or(e.opts.CompareOneIn, defaultCompare)) == 0
}

// compared drives each trial also from the beginning. If the two differ, the trial ends with a ForkError.
type compared struct {
	drive.Driver
	full drive.Driver
}

// Trial implements drive.Driver.
func (c compared) Trial(ctx context.Context, n int) (record.Trial, []record.Timing) {
	forked, _ := c.Driver.Trial(ctx, n)
	full, timings := c.full.Trial(ctx, n)
	if err := compareTrials(full, forked); err != nil {
		full.End.HarnessError = err.Error()
	}
	return full, timings
}

// compareTrials returns a *ForkError if the recordings of two trials differ.
func compareTrials(full, forked record.Trial) error {
	want, err := record.Encode(full)
	if err != nil {
		return err
	}
	got, err := record.Encode(forked)
	if err != nil || bytes.Equal(want, got) {
		return err
	}
	wantLines, gotLines := bytes.Split(want, []byte("\n")), bytes.Split(got, []byte("\n"))
	n := 0
	for n < min(len(wantLines), len(gotLines))-1 && bytes.Equal(wantLines[n], gotLines[n]) {
		n++
	}
	before, after := differing(wantLines[n], gotLines[n])
	return &ForkError{Run: full.Head.Scenario, Line: n + 1, Full: before, Forked: after}
}

// differing returns the parts of two lines around their first difference.
func differing(a, b []byte) (partA, partB string) {
	const around = 60
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	part := func(line []byte) string {
		return fmt.Sprintf("%q", line[max(0, min(n, len(line))-around):min(len(line), n+around)])
	}
	return part(a), part(b)
}
