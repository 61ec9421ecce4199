// Package kind adapts the supervisor of agents/persist to the harness. Scenarios drive it through
// crashes and restarts.
package kind

import (
	"context"

	"github.com/rehearse-dev/rehearse/agents/persist"
	"github.com/rehearse-dev/rehearse/agents/persist/plan"
	stop "github.com/rehearse-dev/rehearse/agents/stop/kind"
	"github.com/rehearse-dev/rehearse/harness/drive"
	"github.com/rehearse-dev/rehearse/harness/kind"
	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/internal/quantity"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// Kind returns the kind "supervise".
func Kind() kind.Kind {
	var statuses []string
	for _, s := range persist.Statuses() {
		statuses = append(statuses, string(s.Status))
	}
	return kind.Kind{
		Kind: scenarios.Kind{
			Name: "supervise", Title: "a supervised run", Statuses: statuses, Writes: true,
			Options:  func() any { return new(Options) },
			Complete: func(c *scenarios.Checker, opts any, _ *scenarios.Scenario) { opts.(*Options).Digest(c) },
			Check:    func(c *scenarios.Checker, opts any) { opts.(*Options).check(c) },
		},
		Extensions: []measure.Extension{Extension(), stop.Extension()},
		Invariants: invariants(),
		New:        newDriver,
	}
}

// supervised is a plan under test.
type supervised struct {
	opts Options
	plan plan.Plan
}

func newDriver(sc scenarios.Scenario, env *drive.Env) (drive.Driver, error) {
	s := &supervised{opts: *sc.Drive.Options.(*Options)}
	s.plan = s.opts.planWithCopies()
	return drive.NewAgent(sc, env, drive.Agent{
		Limits: struct {
			Tasks  int         `json:"tasks"`
			Limits plan.Limits `json:"limits"`
		}{len(s.plan.Tasks), s.plan.Limits.WithDefaults()},
		InterruptAfter: s.opts.InterruptAfter,
		Points:         s.points,
		Run:            s.run,
	})
}

// points completes the points of perturbations: every append, checkpoint and blob is a write.
func (s *supervised) points(p *drive.Points) {
	p.NoWrites = ""
	limits := s.plan.Limits.WithDefaults()
	all := map[string]quantity.Duration{
		"limits.timeout": limits.Timeout, "limits.stagnation": limits.Stagnation, "limits.no_progress": limits.NoProgress,
	}
	retries, known := 0, map[quantity.Duration]bool{}
	for _, t := range s.plan.Tasks {
		retries = max(retries, t.MaxRetries())
		if !known[t.Timeout] { // copies of a task have the same timeout
			known[t.Timeout] = true
			all["tasks."+t.ID+".timeout"] = t.Timeout
		}
	}
	for name, w := range s.plan.Workers {
		if w.Loop == nil {
			continue
		}
		for key, given := range map[string]*quantity.Duration{"timeout": w.Loop.Timeout, "call_timeout": w.Loop.CallTimeout} {
			if given != nil {
				all["workers."+name+"."+key] = *given
			}
		}
	}
	p.Timeouts = drive.Timeouts(all)
	p.Attempts *= 1 + retries
}

func (s *supervised) run(ctx context.Context, t *drive.Trial) record.End {
	return newSupervision(s, t).run(ctx)
}
