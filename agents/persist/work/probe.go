package work

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/rehearse-dev/rehearse/agents/persist"

	"github.com/rehearse-dev/rehearse/agents/persist/plan"
	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
)

// Probes returns a probe for each check of the plan. Probes do not leave the folder dir. The clock is
// for timeouts of commands, which run in real time; nil is the real clock. A check that cannot be
// decided is unknown. Wrapper precedes the command lines, such as that of a sandbox.
func Probes(p plan.Plan, dir string, clk clock.Clock, wrapper ...string) (map[plan.Check]persist.Probe, error) {
	if clk == nil {
		clk = clock.Real()
	}
	probes := make(map[plan.Check]persist.Probe, len(p.Checks))
	for _, name := range slices.Sorted(maps.Keys(p.Checks)) {
		probe, err := newProbe(p.Checks[name].WithDefaults(), dir, clk, wrapper)
		if err != nil {
			return nil, fmt.Errorf("check %s: %w", name, err)
		}
		probes[name] = guardProbe(probe)
	}
	return probes, nil
}

// Acceptance returns the acceptance commands of the plan's tasks, by the ids of the tasks. They run in
// the folder dir. The clock and the wrapper are those of Probes.
func Acceptance(p plan.Plan, dir string, clk clock.Clock, wrapper ...string) map[string][]persist.Probe {
	if clk == nil {
		clk = clock.Real()
	}
	all := map[string][]persist.Probe{}
	for _, t := range p.Tasks {
		for _, a := range t.Accept {
			all[t.ID] = append(all[t.ID], guardProbe(commandProbe{spec: a.Probe(), dir: dir, clock: clk, wrapper: wrapper}.probe))
		}
	}
	return all
}

// newProbe only returns errors that plan.Problems reports, too.
func newProbe(spec plan.Probe, dir string, clk clock.Clock, wrapper []string) (persist.Probe, error) {
	switch {
	case len(spec.Command) > 0:
		return commandProbe{spec: spec, dir: dir, clock: clk, wrapper: wrapper}.probe, nil
	case spec.File != "":
		return todoProbe{file: spec.File, dir: dir}.probe, nil
	case len(spec.Markers) > 0:
		m, err := newMarkers(spec, dir)
		if err != nil {
			return nil, err
		}
		return m.probe, nil
	case spec.None != "":
		return func(context.Context) plan.CheckResult {
			return plan.CheckResult{Verdict: plan.None, Details: spec.None}
		}, nil
	}
	return nil, errors.New("the probe needs one of command, file, markers, none")
}

// guardProbe returns a probe that recovers from a panic and does nothing after the end of ctx.
func guardProbe(probe persist.Probe) persist.Probe {
	return func(ctx context.Context) (r plan.CheckResult) {
		defer func() {
			if p := recover(); p != nil {
				r = unknown("the probe failed: panic: %v", p)
			}
			r.Details = sanitize.Line(r.Details, maxProbeDetails) // it may quote files
		}()
		if err := clock.Err(ctx); err != nil {
			return unknown("was not asked: %v", err)
		}
		return probe(ctx)
	}
}

func unknown(format string, args ...any) plan.CheckResult {
	return plan.CheckResult{Verdict: plan.Unknown, Details: fmt.Sprintf(format, args...)}
}

// The longest texts of a result, in characters.
const (
	maxProbeItem    = 200
	maxProbeDetails = 500
)

// findings collects findings in bounded memory.
type findings struct {
	items []string
	count int
}

func (f *findings) add(text string) {
	if f.count++; f.count <= plan.MaxFindings {
		f.items = append(f.items, sanitize.Line(text, maxProbeItem))
	}
}

// list returns at most plan.MaxFindings findings. If there are more, the last one is their number, so
// that the list changes with it.
func (f *findings) list() []string {
	if f.count <= plan.MaxFindings {
		return f.items
	}
	items := slices.Clone(f.items)
	items[plan.MaxFindings-1] = fmt.Sprintf("… and %d more", f.count-plan.MaxFindings+1)
	return items
}
