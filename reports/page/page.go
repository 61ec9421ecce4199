// Package page renders a run as one self-contained HTML file: a summary, plots, the
// scenarios, and the transcripts of trials call by call.
//
// The file makes no request and runs only its own script, which a strict content security policy
// enforces, and all texts in it are treated as hostile. The details of a trial are in a noscript
// block: without JavaScript they are visible; with JavaScript they are inert text that is parsed
// when the trial is opened, so a file of many megabytes opens at once.
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

// Input is the content of a page besides the trials of its Builder.
type Input struct {
	// Report is the report of the trials, with the comparison.
	Report reports.Report
	// Explored are explorations of golden paths.
	Explored []result.Exploration
	// Detection are the scores of detectors; may be nil.
	Detection *reports.Detection
}

// Options bound a page; the zero value is the default.
type Options struct {
	// MaxBytes limits the page, at least 1 MB; 0 means 28 MB. The page notes what was left out,
	// passing trials first.
	MaxBytes int
	// More is a sentence on where to find more; may be empty.
	More string
}

// defaultMaxBytes is below the 30 MB that browsers open without delay.
const defaultMaxBytes = 28_000_000

// minMaxBytes is enough for the summary.
const minMaxBytes = 1_000_000

// Spool keeps rendered trials, such as in a temporary file. Its size is at most about three
// times Options.MaxBytes.
type Spool interface {
	io.Writer
	io.ReaderAt
}

// Builder builds a page trial by trial. Each trial is rendered when it is added and kept in the
// spool, so memory does not grow with the trials. It is not safe for concurrent use.
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

// scenario is the state of a scenario.
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

// Judge returns a judge that adds each trial that j has judged.
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

// scenario returns the state of a scenario, which it creates at the first call.
func (b *Builder) scenario(name string) *scenario {
	sc := b.scenarios[name]
	if sc == nil {
		sc = &scenario{id: b.ids.scenario(name)}
		b.scenarios[name] = sc
	}
	return sc
}

// goldenOf returns the golden path of a perturbed scenario, whose name begins with it.
func goldenOf(name string) string {
	golden, _, _ := strings.Cut(name, " [")
	return golden
}

// key identifies a run by its golden path and its perturbations.
func key(golden string, perturb []string) string {
	return golden + "\x00" + strings.Join(perturb, "\x00")
}
