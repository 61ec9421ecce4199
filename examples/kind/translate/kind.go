package translate

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/harness/drive"
	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/kind"
	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// Options are the keys under drive.translate.
type Options struct {
	// Language is the language of the translations.
	Language string `yaml:"language" json:"language"`
	// Texts are translated one after the other.
	Texts []string `yaml:"texts" json:"texts" jsonschema:"minItems=1"`
	// Retries limits how often a failed call is repeated; default 0.
	Retries int `yaml:"retries,omitempty" json:"retries,omitempty" jsonschema:"minimum=0,maximum=10"`
	// Timeout limits a call; default 30s.
	Timeout scenarios.Duration `yaml:"timeout,omitempty" json:"timeout,omitempty"`
}

// Kind returns the kind "translate".
func Kind() kind.Kind {
	return kind.Kind{
		Kind: scenarios.Kind{
			Name: "translate", Title: "the translator", Statuses: []string{"done", "failed"},
			Options: func() any { return new(Options) },
			Check:   func(c *scenarios.Checker, opts any) { opts.(*Options).check(c) },
		},
		New:        newDriver,
		Extensions: []measure.Extension{extension()},
		Invariants: append(
			gate.General(gate.Tolerance{ExtraCalls: 1, GoodStatuses: []string{"done"}}),
			gate.Invariant{
				ID: "no-text-lost", Words: "a run that is done has translated as many texts as the golden one",
				Expr: `run.status != "done" || translate.texts == golden.translate.texts`,
			},
		),
	}
}

func (o *Options) check(c *scenarios.Checker) {
	if len(o.Texts) == 0 {
		c.Add("drive.translate.texts", "", "there is nothing to translate; write at least one text")
	}
}

func newDriver(sc scenarios.Scenario, env *drive.Env) (drive.Driver, error) {
	opts := sc.Drive.Options.(*Options)
	timeout := cmp.Or(opts.Timeout.Std(), 30*time.Second)
	return drive.NewAgent(sc, env, drive.Agent{
		Points: func(p *drive.Points) {
			p.Attempts *= 1 + opts.Retries
			p.Timeouts = map[string]time.Duration{"timeout": timeout}
		},
		Run: func(ctx context.Context, t *drive.Trial) record.End {
			start := t.Clock.Now()
			agent := Agent{Model: t.Backend, Sink: t.Sink, Clock: t.Clock, Timeout: timeout, Retries: opts.Retries}
			texts, err := agent.Translate(ctx, opts.Language, opts.Texts)
			end := record.End{
				Status: "done", Iterations: len(texts), Text: strings.Join(texts, "\n"), Duration: t.Clock.Now().Sub(start),
			}
			if err != nil {
				end.Status, end.ExitCode, end.Details = "failed", 1, err.Error()
			}
			return end
		},
	})
}

// Facts describe what a translator did in a trial: the variable translate of expressions.
type Facts struct {
	Texts      int `cel:"texts" json:"texts"`
	Characters int `cel:"characters" json:"characters"`
}

// extension measures translators.
func extension() measure.Extension {
	return measure.Extension{
		Name: "translate", Zero: &Facts{}, Of: factsOf,
		Counts: func(facts any) bool { return facts.(*Facts).Texts > 0 },
		Metrics: []measure.Metric{
			measure.Sum("translate_texts", func(f *Facts) int { return f.Texts }),
			measure.Ratio("translate_characters_per_text", func(f *Facts) (k, n int) { return f.Characters, f.Texts }),
		},
		Section: measure.Section{
			Title: "Translations", Sentence: "%s texts, %s characters for each",
			Counts: []string{"translate_texts", "translate_characters_per_text"},
		},
	}
}

// factsOf reads the facts from the events of a recorded trial.
func factsOf(_ *record.Scenario, tr *record.Trial, _ *measure.Facts) any {
	var f Facts
	for i := range tr.Events {
		if t, ok := event.Read[Translated](&tr.Events[i].Event); ok {
			f.Texts++
			f.Characters += t.Characters
		}
	}
	return &f
}
