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
	"unicode/utf8"

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
	// Origin is when and how the run was made; zero if it is unknown.
	Origin reports.Origin
	// Explored are explorations of golden paths.
	Explored []result.Exploration
	// Detection are the scores of detectors; may be nil.
	Detection *reports.Detection
}

// Options bound a page; the zero value is the default.
type Options struct {
	// MaxBytes limits the page, at least 1 MB; 0 means 8 MB, which holds several thousand trials.
	// The page notes what was left out, passing trials first.
	MaxBytes int
}

// defaultMaxBytes is what browsers open without delay, and servers for CI artifacts show.
const defaultMaxBytes = 8_000_000

// minMaxBytes is enough for the summary.
const minMaxBytes = 1_000_000

// Spool keeps rendered trials, such as in a temporary file. Its size is at most that of the page.
type Spool interface {
	io.Writer
	io.ReaderAt
}

// Builder builds a page trial by trial. Each trial is rendered when it is added and kept in the
// spool, so memory does not grow with the trials. It is not safe for concurrent use.
type Builder struct {
	spool     spool
	pack      packer
	limit     int // of the page, in bytes
	plain     int // bytes that are not packed
	ids       ids
	scenarios map[string]*scenario
	plots     plots
	page      renderer
	// perturbed are the ids of scenarios off a golden path, by their perturbations.
	perturbed map[string]string
	// realTime is true if a trial was carried out in real time.
	realTime bool
}

// scenario is the state of a scenario.
type scenario struct {
	id     string
	trials []piece
	// without counts the trials by verdict that were not rendered.
	without reports.Count
	perturb []string
	// text has the answers of its trials, to search in.
	text string
}

// maxPassing limits the passing trials of a scenario that have details: nobody reads thousands of equal ones.
const maxPassing = 500

// maxFound limits the text of a scenario that a search looks at, in characters.
const maxFound = 600

// found adds the answers of a trial to the text that a search looks at.
func (sc *scenario) found(v view) {
	answers := v.facts.Answers
	if len(answers) == 0 {
		answers = []string{v.trial.End.Text}
	}
	for _, text := range answers {
		if rest := maxFound - utf8.RuneCountInString(sc.text); rest > 0 && !strings.Contains(sc.text, line(text, rest)) {
			sc.text += "\n" + line(text, rest)
		}
	}
}

// New returns a Builder that keeps what is rendered in the spool.
func New(to Spool, opts Options) *Builder {
	if opts.MaxBytes == 0 {
		opts.MaxBytes = defaultMaxBytes
	}
	b := &Builder{
		spool:     spool{file: to},
		limit:     max(opts.MaxBytes, minMaxBytes),
		scenarios: map[string]*scenario{},
		perturbed: map[string]string{},
	}
	b.pack.spool = &b.spool
	return b
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
	b.realTime = b.realTime || s.RealTime && t.End.Skipped == ""
	if len(s.Perturb) > 0 {
		sc.perturb = s.Perturb
		b.perturbed[key(goldenOf(s.Name), s.Perturb)] = sc.id
	}
	verdict := gate.VerdictOf(findings)
	class := classOf(verdict, len(sc.trials) == 0 && sc.without.Total() == 0)
	if !b.wants(class) || class == further && len(sc.trials) >= maxPassing {
		sc.without.Add(verdict)
		return nil
	}
	v := view{scenario: s, trial: t, facts: facts, findings: findings, id: trialID(sc.id, t.Head.N)}
	if err := b.trial(sc, v, class); err != nil {
		return fmt.Errorf("keep trial %d of %s for the page: %w", t.Head.N, s.Name, err)
	}
	sc.found(v)
	return nil
}

// trial renders a trial into the spool.
func (b *Builder) trial(sc *scenario, v view, c class) error {
	b.page.reset()
	head, err := b.page.trial(v)
	if err != nil {
		return err
	}
	if head.Inside, err = b.fold(b.page.out.Bytes(), v.id, c); err != nil {
		return err
	}
	b.page.reset()
	if err := b.page.execute("trial", head); err != nil {
		return err
	}
	p, err := b.spool.add(b.page.out.Bytes())
	sc.trials = append(sc.trials, p)
	return err
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
