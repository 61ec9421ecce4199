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

// paths are the golden paths of the run's perturbed scenarios. Each trial of a golden path runs once,
// however many scenarios perturb it.
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

// golden is one trial of a golden path: its facts, or the reason why there are none.
type golden struct {
	once    sync.Once
	facts   json.RawMessage // a measure.Golden
	skipped string
	failed  string
}

// of returns the golden path of a perturbed scenario; nil for others.
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

// golden runs trial n once, and waits for its result.
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
		timings = nil // they differ from run to run, and the facts are recorded
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

// trial runs trial n, that of a perturbed scenario after the trial of its golden path.
// The error is that of another machine.
func (sc *prepared) trial(ctx context.Context, n int) (trial record.Trial, timings []record.Timing, stack []byte, err error) {
	if sc.fetch != nil {
		trial, timings, err = sc.fetch(ctx, n)
		return trial, timings, nil, err
	}
	if sc.path == nil {
		trial, timings, stack = sc.drive(ctx, n)
		return trial, timings, stack, nil
	}
	g := sc.path.golden(ctx, n)
	switch {
	case g.skipped != "":
		return sc.notRun(n, record.End{Status: "skipped", Skipped: g.skipped}), nil, nil, nil
	case g.failed != "":
		end := record.End{Status: "error", ExitCode: 1, HarnessError: "the golden path could not be run: " + g.failed}
		return sc.notRun(n, end), nil, nil, nil
	}
	trial, timings, stack = sc.drive(ctx, n)
	trial.Head.Golden = g.facts
	return trial, timings, stack, nil
}

// notRun returns the record of a trial that was not run.
func (sc *prepared) notRun(n int, end record.End) record.Trial {
	return record.Trial{Head: record.TrialHead{Scenario: sc.head.Name, N: n, Seed: drive.Seed(sc.head.Seed, n)}, End: end}
}
