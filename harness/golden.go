package harness

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/rehearse-dev/rehearse/harness/drive"
	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/harness/record"
)

// paths are the golden paths that the run's perturbed scenarios depart from. Each
// trial of one is driven once, however many depart from it.
type paths struct {
	mu    sync.Mutex
	known map[drive.Driver]*path
}

// path is one golden path.
type path struct {
	*prepared
	mu     sync.Mutex
	trials map[int]*golden
}

// golden is one trial of a golden path: its facts, or why there are none.
type golden struct {
	once    sync.Once
	facts   json.RawMessage // of measure.Golden
	skipped string
	failed  string
}

// of is the path that a driver departs from; nil if it does not.
func (p *paths) of(sc *prepared) (*path, error) {
	if len(sc.head.Perturb) == 0 {
		return nil, nil
	}
	driver, err := sc.driver.Perturbed(nil)
	if err != nil {
		return nil, fmt.Errorf("find the golden path: %w", err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if known, ok := p.known[driver]; ok {
		return known, nil
	}
	if p.known == nil {
		p.known = map[drive.Driver]*path{}
	}
	found := &path{
		prepared: &prepared{driver: driver, head: driver.Head(), redact: sc.redact, language: sc.language},
		trials:   map[int]*golden{},
	}
	p.known[driver] = found
	return found, nil
}

// golden drives trial n, or waits for whoever does.
func (p *path) golden(ctx context.Context, n int) *golden {
	p.mu.Lock()
	g := p.trials[n]
	if g == nil {
		g = &golden{}
		p.trials[n] = g
	}
	p.mu.Unlock()
	g.once.Do(func() { p.walk(ctx, n, g) })
	return g
}

func (p *path) walk(ctx context.Context, n int, g *golden) {
	trial, timings, _ := p.drive(ctx, n)
	if p.head.RealTime {
		timings = nil // they are another time each time, and the facts go into the recording
	}
	facts := measure.Trial(p.head, trial, timings, p.language.Extensions())
	g.skipped, g.failed = facts.Run.Skipped, facts.Run.Error
	if g.skipped != "" || g.failed != "" {
		return
	}
	data, err := json.Marshal(measure.GoldenOf(&facts))
	if err != nil {
		g.failed = "encode its facts: " + err.Error()
	}
	g.facts = data
}

// trial carries out trial n: of a scenario that departs from a golden path, after the
// path's own.
func (sc *prepared) trial(ctx context.Context, n int) (record.Trial, []record.Timing, []byte) {
	if sc.path == nil {
		return sc.drive(ctx, n)
	}
	g := sc.path.golden(ctx, n)
	switch {
	case g.skipped != "":
		return sc.without(n, record.End{Status: "skipped", Skipped: g.skipped}), nil, nil
	case g.failed != "":
		return sc.without(n, record.End{Status: "error", ExitCode: 1, HarnessError: "the golden path could not be run: " + g.failed}), nil, nil
	}
	trial, timings, stack := sc.drive(ctx, n)
	trial.Head.Golden = g.facts
	return trial, timings, stack
}

// without is a trial that was not carried out.
func (sc *prepared) without(n int, end record.End) record.Trial {
	return record.Trial{Head: record.TrialHead{Scenario: sc.head.Name, N: n, Seed: drive.Seed(sc.head.Seed, n)}, End: end}
}
