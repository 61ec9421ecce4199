// Package probe answers checks: by a command's exit status, by a list of todos,
// and by markers of unfinished work in files. What cannot be told is unknown,
// never green.
package probe

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/rehearse-dev/rehearse/agents/persist/check"
	"github.com/rehearse-dev/rehearse/agents/persist/plan"
	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
)

// Build makes the probes of all checks that a plan names, in the plan's folder.
func Build(p plan.Plan, dir string, clk clock.Clock) (map[check.Name]check.Probe, error) {
	probes := make(map[check.Name]check.Probe, len(p.Checks))
	for _, name := range slices.Sorted(maps.Keys(p.Checks)) {
		probe, err := New(p.Checks[name], dir, clk)
		if err != nil {
			return nil, fmt.Errorf("check %s: %w", name, err)
		}
		probes[name] = probe
	}
	return probes, nil
}

// New makes a probe that works in a folder, which it never leaves. The clock times
// commands, which live in real time; nil: the machine's. The error is that of a
// spec that plan.Problems would refuse.
func New(spec plan.Probe, dir string, clk clock.Clock) (check.Probe, error) {
	if clk == nil {
		clk = clock.Real()
	}
	spec = spec.WithDefaults()
	switch {
	case len(spec.Command) > 0:
		return guarded(command{spec: spec, dir: dir, clock: clk}.probe), nil
	case spec.File != "":
		return guarded(todos{file: spec.File, dir: dir}.probe), nil
	case len(spec.Markers) > 0:
		m, err := newMarkers(spec, dir)
		if err != nil {
			return nil, err
		}
		return guarded(m.probe), nil
	case spec.None != "":
		return check.ProbeFunc(func(context.Context) check.Result {
			return check.Result{Verdict: check.None, Details: spec.None}
		}), nil
	}
	return nil, errors.New("the probe needs one of command, file, markers, none")
}

// guarded keeps a panic from getting through, and does not ask when ctx has ended.
func guarded(probe func(context.Context) check.Result) check.Probe {
	return check.ProbeFunc(func(ctx context.Context) (r check.Result) {
		defer func() {
			if p := recover(); p != nil {
				r = unknown("the probe failed: panic: %v", p)
			}
			r.Details = sanitize.Line(r.Details, maxDetails) // it may name files, and quote them
		}()
		if err := clock.Err(ctx); err != nil {
			return unknown("was not asked: %v", err)
		}
		return probe(ctx)
	})
}

func unknown(format string, args ...any) check.Result {
	return check.Result{Verdict: check.Unknown, Details: fmt.Sprintf(format, args...)}
}

// How many characters of a finding and of the details are shown.
const (
	maxItem    = 200
	maxDetails = 500
)

// findings collects findings in bounded memory.
type findings struct {
	items []string
	count int
}

func (f *findings) add(text string) {
	if f.count++; f.count <= check.MaxItems {
		f.items = append(f.items, sanitize.Line(text, maxItem))
	}
}

// list is at most check.MaxItems findings; the last one then says how many more
// there are, so that fewer of many are another list.
func (f *findings) list() []string {
	if f.count <= check.MaxItems {
		return f.items
	}
	items := slices.Clone(f.items)
	items[check.MaxItems-1] = fmt.Sprintf("… and %d more", f.count-check.MaxItems+1)
	return items
}

// count returns how many there are of something, such as "1 todo" or "2 todos".
func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
