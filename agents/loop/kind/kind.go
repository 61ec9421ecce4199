// Package kind lets scenarios drive the loop of agents/loop.
package kind

import (
	"context"
	"errors"
	"time"

	"github.com/rehearse-dev/rehearse/agents/loop"
	stop "github.com/rehearse-dev/rehearse/agents/stop/kind"
	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/harness/drive"
	"github.com/rehearse-dev/rehearse/harness/kind"
	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/internal/quantity"
	"github.com/rehearse-dev/rehearse/redact"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// Options are the keys under drive.loop: those of loop.Options, and the actions of a user.
type Options struct {
	loop.Options `yaml:",inline"`
	// Config replaces the configuration file, which options override.
	Config *loop.Options `yaml:"config,omitempty" json:"config,omitempty"`
	// Checked scripts the results of checks in their order; the last one repeats.
	Checked []Checked `yaml:"checked,omitempty" json:"checked,omitempty"`
	// InterruptAfter is the time when the user presses Ctrl-C, on the clock of the trial.
	InterruptAfter quantity.Duration `yaml:"interrupt_after,omitempty" json:"interrupt_after,omitempty"`
}

// Checked is the result of one check command.
type Checked struct {
	// Verdict is the result of the check.
	Verdict loop.CheckVerdict `yaml:"verdict" json:"verdict" jsonschema:"enum=pass,enum=fail,enum=unknown"`
	// Details is the reason, such as the exit status.
	Details string `yaml:"details,omitempty" json:"details,omitempty"`
	// Output is the output of the command.
	Output string `yaml:"output,omitempty" json:"output,omitempty"`
	// Takes is the duration of the command, on the clock of the trial.
	Takes quantity.Duration `yaml:"takes,omitempty" json:"takes,omitempty"`
}

// checker returns a function that returns the scripted results.
func (o *Options) checker(on clock.Clock) loop.CheckFunc {
	left := o.Checked
	return func(ctx context.Context, _ string) loop.Check {
		look := left[0]
		if len(left) > 1 {
			left = left[1:]
		}
		if err := on.Sleep(ctx, look.Takes.Std()); err != nil {
			return loop.Check{Verdict: loop.CheckUnknown, Details: "interrupted: " + err.Error()}
		}
		return loop.Check{Verdict: look.Verdict, Details: look.Details, Output: look.Output}
	}
}

// Kind returns the kind "loop".
func Kind() kind.Kind {
	var statuses []string
	for _, s := range loop.Statuses() {
		statuses = append(statuses, string(s.Status))
	}
	return kind.Kind{
		Kind: scenarios.Kind{
			Name: "loop", Title: "the loop", Statuses: statuses,
			Options: func() any { return new(Options) },
			Check:   func(c *scenarios.Checker, opts any) { opts.(*Options).check(c) },
		},
		Extensions: []measure.Extension{stop.Extension()},
		Invariants: invariants(),
		New:        newDriver,
	}
}

// defaults are those of a scenario where they differ from the defaults of the loop, besides
// loop.FailFast. A script needs no instructions and changes no files, and a call that hangs must end.
var defaults = loop.Options{
	Contract: loop.NoContract, UnchangedLimit: new(0), MaxTurns: new(0), DenialLimit: new(0), FailureLimit: new(0),
	Timeout: new(quantity.Duration(5 * time.Minute)),
}

func (o *Options) resolve() (loop.Settings, error) {
	return loop.Resolve(loop.FailFast(o.Options, orNone(o.Config)), defaults)
}

func orNone(o *loop.Options) loop.Options {
	if o == nil {
		return loop.Options{}
	}
	return *o
}

// check reports invalid settings at the position of the value that took precedence.
func (o *Options) check(c *scenarios.Checker) {
	_, err := o.resolve()
	fields, _ := errors.AsType[loop.FieldErrors](err)
	if file := orNone(o.Config); len(o.Checks)+len(file.Checks) > 0 && len(o.Checked) == 0 {
		c.Add("drive.loop", "", "checks need checked, the results of the commands")
	}
	for _, f := range fields {
		path := "drive.loop." + f.Field
		if inFile := "drive.loop.config." + f.Field; !c.Has(path) && c.Has(inFile) {
			path = inFile
		}
		c.Add(path, "", "%s %s", f.Field, f.Message)
	}
}

func newDriver(sc scenarios.Scenario, env *drive.Env) (drive.Driver, error) {
	opts := sc.Drive.Options.(*Options)
	settings, err := opts.resolve()
	if err != nil {
		return nil, err
	}
	return drive.NewAgent(sc, env, drive.Agent{
		Limits:         withoutSecrets(settings, env.Redactor),
		InterruptAfter: opts.InterruptAfter,
		Points: func(p *drive.Points) {
			p.Timeouts = drive.Timeouts(map[string]quantity.Duration{
				"timeout": settings.Timeout, "call_timeout": settings.CallTimeout, "idle_timeout": settings.IdleTimeout,
			})
		},
		Run: func(ctx context.Context, t *drive.Trial) record.End { return run(ctx, t, settings, opts) },
	})
}

func run(ctx context.Context, t *drive.Trial, settings loop.Settings, opts *Options) record.End {
	result := loop.Run(ctx, settings, loop.Deps{
		Backend:        t.Backend,
		BackendID:      t.BackendID,
		Conversational: t.Conversational,
		Clock:          t.Clock,
		Check:          opts.checker(t.Clock),
		Sink:           t.Sink,
		Price:          t.Price,
		EURPerUSD:      t.EURPerUSD,
	})
	return record.End{
		Status:     string(result.Status),
		ExitCode:   result.ExitCode,
		Iterations: result.Iterations,
		Duration:   result.Duration,
		Text:       result.Text,
		Summary:    result.Summary,
		Details:    result.Details,
	}
}

func withoutSecrets(s loop.Settings, redactor *redact.Redactor) loop.Settings {
	for _, text := range []*string{
		&s.Prompt, &s.System, &s.ContinuePrompt, &s.Contract, &s.Backend, &s.Model, &s.Marker, &s.BlockedMarker,
	} {
		*text = redactor.Text(*text)
	}
	return s
}
