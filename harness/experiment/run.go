package experiment

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/rehearse-dev/rehearse/harness/drive"
	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/result"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/stat"
)

// Options configures a run of an experiment. Env is required.
type Options struct {
	// Env is shared by all drivers; the caller closes it afterwards.
	Env *drive.Env
	// Workers is the number of concurrent trials; less than 1 means 1.
	Workers int
	// Journal is the file that stores the progress; empty stores nothing. An existing journal is
	// resumed. The answers are in AnswersFile beside it.
	Journal string
	// Caps override those of the file unless they are zero.
	Caps Caps
	// Tool is the program's name and version.
	Tool string
	// Progress, if set, is called with the progress, on the goroutine that called Run.
	Progress func(Progress)
}

// Progress describes how far an experiment is.
type Progress struct {
	// Doing is "trials" or a round of a search.
	Doing string
	// Trials is the number of completed trials, out of Planned. Resumed of them are from the journal.
	Trials, Planned, Resumed int
	// Trial is the last completed one.
	Trial Trial
	// Look is the number of the next analysis, out of Looks.
	Look, Looks int
	Used        result.Used
}

// Trial identifies a completed trial.
type Trial struct {
	Variant, Scenario string
	N                 int
	Verdict           gate.Verdict
}

// Run runs the experiment until all trials are complete, every comparison is decided and the file
// allows early stopping, a cap is reached, or ctx ends. The result names the reason and contains
// everything found so far. The error is one of the journal, or of a scenario that cannot be driven.
func (e *Experiment) Run(ctx context.Context, opts Options) (result.Experiment, error) {
	if len(e.variants) < 2 {
		return result.Experiment{}, errors.New("there is only one variant; use tune to search for another one")
	}
	return e.run(ctx, opts, result.Used{CostKnown: true})
}

// run runs the experiment, given the previous use.
func (e *Experiment) run(ctx context.Context, opts Options, prior result.Used) (result.Experiment, error) {
	r, err := e.begin(opts)
	if err != nil {
		return result.Experiment{}, err
	}
	r.prior = prior
	res, err := r.looks(ctx)
	return res, cmp.Or(err, r.answers.close(), r.journal.close())
}

// run is the state of an experiment.
type run struct {
	*Experiment
	opts    Options
	design  result.Design
	caps    Caps
	decider *decider
	drivers [][]drive.Driver // by variant and scenario
	trials  [][][]*outcome   // by variant, scenario and trial
	skipped []string         // by scenario: why it is skipped; empty if it is not
	journal *journal
	answers *answers
	end     *capped     // how a cap ended it
	next    int         // the next round, from 0
	made    int         // completed trials
	resumed int         // trials of the journal
	prior   result.Used // use before the experiment began
	used    result.Used
	most    result.Used // largest use of a trial
	done    []result.Look
}

// begin prepares the drivers and opens the journal.
func (e *Experiment) begin(opts Options) (*run, error) {
	if e.Live() && !opts.Env.Live {
		return nil, errors.New("a scenario of the experiment calls a live model, which costs money; allow it with --live")
	}
	r := &run{Experiment: e, opts: opts, design: e.design, caps: e.file.Caps, used: result.Used{CostKnown: true}}
	r.cap(opts.Caps)
	names := make([]string, len(e.variants))
	for v := range e.variants {
		names[v] = e.variants[v].name
		drivers := make([]drive.Driver, len(e.variants[v].scenarios))
		for s, sc := range e.variants[v].scenarios {
			var err error
			if drivers[s], err = drive.New(sc, opts.Env); err != nil {
				return nil, fmt.Errorf("prepare scenario %s of variant %s: %w", sc.Name, names[v], err)
			}
		}
		r.drivers = append(r.drivers, drivers)
		r.trials = append(r.trials, make([][]*outcome, len(drivers)))
	}
	r.decider = newDecider(r.design, names, namesOf(e.variants[0].scenarios))
	r.skipped = make([]string, len(r.decider.scenarios))
	var was found
	var err error
	r.journal, was, err = openJournal(opts.Journal, heading{
		Schema: journalSchema, Digest: e.digest, Prices: opts.Env.Prices.Date, Tool: opts.Tool,
		Calls: r.caps.Calls, Cost: r.design.MaxCost,
	})
	if err != nil {
		return nil, err
	}
	if err = r.restore(&was); err == nil {
		r.answers, err = openAnswers(opts.Journal, opts.Env.Redactor)
	}
	if err != nil {
		_ = r.journal.close()
		return nil, err
	}
	return r, nil
}

// cap overrides the caps of the file.
func (r *run) cap(other Caps) {
	r.caps.Calls = cmp.Or(other.Calls, r.caps.Calls)
	r.caps.Cost = cmp.Or(other.Cost, r.caps.Cost)
	r.design.MaxCalls, r.design.MaxCost = r.caps.Calls, ""
	if !r.caps.Cost.IsZero() {
		r.design.MaxCost = r.caps.Cost.String()
	}
}

// restore adds the trials of the journal.
func (r *run) restore(was *found) error {
	r.end = was.end
	for i := range was.lost {
		add(&r.used, &was.lost[i].Lost)
	}
	for i := range was.done {
		o := &was.done[i]
		v := slices.Index(r.decider.variants, o.Variant)
		s := slices.Index(r.decider.scenarios, o.Scenario)
		if v < 0 || s < 0 || o.Trial != len(r.trials[v][s])+1 || o.Trial > r.design.Trials {
			return fmt.Errorf("%s:%d: trial %d of scenario %q with variant %q is out of order; remove the file to start over",
				r.opts.Journal, o.line, o.Trial, o.Scenario, o.Variant)
		}
		r.add(v, s, o)
	}
	r.resumed = r.made
	return nil
}

func (r *run) add(v, s int, o *outcome) {
	r.trials[v][s] = append(r.trials[v][s], o)
	r.made++
	add(&r.used, &o.Used)
	r.most.Calls = max(r.most.Calls, o.Used.Calls)
	r.most.EUR, r.most.USD = max(r.most.EUR, o.Used.EUR), max(r.most.USD, o.Used.USD)
	if o.Verdict == gate.Skip && r.skipped[s] == "" {
		r.skipped[s] = o.Why
	}
}

// looks runs the experiment, look by look.
func (r *run) looks(ctx context.Context) (result.Experiment, error) {
	last := r.withoutLook()
	for look, trials := range r.decider.looks {
		stopped, err := r.until(ctx, look, trials)
		switch {
		case err != nil:
			return result.Experiment{}, err
		case stopped == result.Capped && r.made == 0 && r.prior.Calls == 0:
			return result.Experiment{}, fmt.Errorf("the caps of the experiment do not allow one trial: %s; raise them", r.end.Capped)
		case stopped == result.Capped:
			return r.capped(), nil
		case stopped == result.Interrupted:
			return r.report(last, result.Stopped{As: result.Interrupted, Why: "it was interrupted; run it again to resume"}), nil
		case !slices.Contains(r.skipped, ""):
			return result.Experiment{}, fmt.Errorf("every scenario was skipped; the first: %s", r.skipped[0])
		}
		last = r.look(r.decider.planned, look, trials)
		if done, of := decided(last.comparisons); done == of && look < len(r.decider.looks)-1 {
			return r.report(last, result.Stopped{
				As: result.Decided, Why: fmt.Sprintf("every comparison was decided after %d of %d trials", trials, r.design.Trials),
			}), nil
		}
	}
	return r.report(last, result.Stopped{As: result.Complete, Why: "all trials were made"}), nil
}

// analysis is the result of a look at the data.
type analysis struct {
	comparisons []comparison
	values      []table
	level       float64 // of a test; 0 without a look
}

// withoutLook returns the effects without tests.
func (r *run) withoutLook() analysis {
	values := r.tables(0)
	return analysis{comparisons: r.decider.pairUp(values), values: values}
}

// look analyses the first n trials of each variant in each scenario.
func (r *run) look(plan *stat.Sequential, look, trials int) analysis {
	values := r.tables(trials)
	s := analysis{comparisons: r.decider.compare(plan, look, values), values: values, level: plan.Levels(r.design.Alpha)[look]}
	done, of := decided(s.comparisons)
	r.done = append(r.done, result.Look{
		Trials: trials, Spent: plan.Spent(r.design.Alpha, look), Level: s.level, Decided: done, Of: of,
	})
	return s
}

// String returns the progress as a status line.
func (p Progress) String() string {
	line := fmt.Sprintf("%s: %d/%d", p.Doing, p.Trials, p.Planned)
	if p.Looks > 1 {
		line += fmt.Sprintf(", look %d of %d", p.Look, p.Looks)
	}
	line += fmt.Sprintf(", %s", format.Plural(p.Used.Calls, "call"))
	if p.Used.EUR > 0 {
		line += fmt.Sprintf(", %.4f EUR", p.Used.EUR)
	}
	return line
}
