// Package page renders a run as one self-contained HTML file: a summary, plots, the
// scenarios, and the transcripts of trials call by call.
//
// The file makes no request and runs no script but its own (a strict content
// security policy says so), and every text in it is taken for hostile. The details
// of a trial stand in a noscript block: without JavaScript they are simply there;
// with it they are inert text that is parsed when somebody opens the trial, so that
// a file of many megabytes opens at once.
package page

import (
	"fmt"
	"io"
	"strings"

	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/harness/result"
	"github.com/rehearse-dev/rehearse/reports"
)

// Input is what a page shows beside the trials that were added to its Builder.
type Input struct {
	// Report is that of the trials, with what changed since the baseline.
	Report reports.Report
	// Explored are explorations of golden paths.
	Explored []result.Exploration
	// Detection are the scores of detectors; nil if there are none.
	Detection *reports.Detection
}

// Options bound a page; the zero value is the default.
type Options struct {
	// MaxBytes is how large the page may be, at least 1 MB; 0 means 28 MB. What does
	// not fit is left out, passing trials first, and the page says so.
	MaxBytes int
	// More says where there is more, in a sentence; empty if nowhere.
	More string
}

// defaultMaxBytes keeps a page below the 30 MB that browsers open without delay.
const defaultMaxBytes = 28_000_000

// minMaxBytes holds at least the summary.
const minMaxBytes = 1_000_000

// Spool is where a Builder keeps what it has rendered, such as a temporary file. It
// holds some three times Options.MaxBytes at most.
type Spool interface {
	io.Writer
	io.ReaderAt
}

// Builder gathers a page trial by trial. Each trial is rendered when it is added, and
// kept in the spool, so that memory does not grow with the trials. It is not safe for
// concurrent use.
type Builder struct {
	spool     spool
	ids       ids
	scenarios map[string]*scenario
	plots     plots
	page      renderer
	more      string
	// perturbed are the ids of scenarios off a golden path, by their perturbations.
	perturbed map[string]string
}

// scenario is what a Builder knows of a scenario beyond the report.
type scenario struct {
	id     string
	trials []piece
	// without counts the trials by verdict that were not rendered.
	without reports.Count
	perturb []string
}

// New returns a Builder that keeps what is rendered in the spool.
func New(to Spool, opts Options) *Builder {
	if opts.MaxBytes == 0 {
		opts.MaxBytes = defaultMaxBytes
	}
	return &Builder{
		spool:     spool{file: to, limit: max(opts.MaxBytes, minMaxBytes)},
		scenarios: map[string]*scenario{},
		perturbed: map[string]string{},
		more:      opts.More,
	}
}

// Judge returns a judge that adds to the page each trial that j has judged.
func (b *Builder) Judge(j reports.Judge) reports.Judge {
	return func(s record.Scenario, t record.Trial) (measure.Facts, []gate.Finding, error) {
		facts, findings, err := j(s, t)
		if err != nil {
			return facts, findings, err
		}
		return facts, findings, b.Trial(&s, &t, &facts, findings)
	}
}

// Trial adds a judged trial of a scenario.
func (b *Builder) Trial(s *record.Scenario, t *record.Trial, facts *measure.Facts, findings []gate.Finding) error {
	sc := b.scenario(s.Name)
	b.plots.add(s, t, facts)
	if len(s.Perturb) > 0 {
		sc.perturb = s.Perturb
		b.perturbed[key(goldenOf(s.Name), s.Perturb)] = sc.id
	}
	verdict := gate.VerdictOf(findings)
	class := classOf(verdict, len(sc.trials) == 0 && sc.without.Total() == 0)
	if !b.spool.wants(class) {
		sc.without.Add(verdict)
		return nil
	}
	b.page.reset()
	if err := b.page.trial(view{scenario: s, trial: t, facts: facts, findings: findings, id: trialID(sc.id, t.Head.N)}); err != nil {
		return fmt.Errorf("render trial %d of %s: %w", t.Head.N, s.Name, err)
	}
	p, err := b.spool.add(b.page.out.Bytes(), class)
	if err != nil {
		return fmt.Errorf("keep trial %d of %s for the page: %w", t.Head.N, s.Name, err)
	}
	p.verdict = verdict
	sc.trials = append(sc.trials, p)
	return nil
}

// scenario returns what is known of a scenario, from its first mention on.
func (b *Builder) scenario(name string) *scenario {
	sc := b.scenarios[name]
	if sc == nil {
		sc = &scenario{id: b.ids.scenario(name)}
		b.scenarios[name] = sc
	}
	return sc
}

// goldenOf is the name of the golden path that a perturbed scenario departs from: its
// own begins with it.
func goldenOf(name string) string {
	golden, _, _ := strings.Cut(name, " [")
	return golden
}

// key is what finds a run by its golden path and its perturbations.
func key(golden string, perturb []string) string {
	return golden + "\x00" + strings.Join(perturb, "\x00")
}
