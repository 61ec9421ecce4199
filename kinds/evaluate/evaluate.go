// Package evaluate scores detectors on labelled corpora, which it finds by the names
// that a user gives them. It is the command detect without flags and output.
package evaluate

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/harness/detect"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
)

// Request describes the detectors and corpora to score.
type Request struct {
	// Corpora are files, "shipped", "reflections" or "-" for Stdin; by default the
	// shipped corpus for the detector.
	Corpora []string
	Stdin   io.Reader
	// Detector is scored, by default the one for the corpora; Against is compared with
	// it on the same items. Both are of the form that Detectors lists.
	Detector, Against string
	// Threshold is the score from which an item is positive; 0 is the detector's own.
	Threshold float64
	Backends  Backends
	// Only selects items, such as "confidence=high". Values of one field are
	// alternatives; all fields must match.
	Only []string
	// Min are the least scores, such as "recall=0.9".
	Min []string
	// Positive are the labels to be found.
	Positive []string
	Seed     uint64
	// MaxErrors limits the kept mistakes of each kind.
	MaxErrors int
}

// Plan is a checked request.
type Plan struct {
	corpora   []*corpus
	Detectors []detect.Detector // the scored one, and the one that it is compared with
	Scoring   detect.ScoreOptions

	kept      []read // the items of the corpora, if Fit read them
	selection selection
	limits    []limit
	closers   []func()
}

// Close ends the programs of the detectors.
func (p *Plan) Close() {
	for _, end := range p.closers {
		end()
	}
}

// Plan validates the whole request before any call. stop ends the run when the
// budget of a model is used up. The caller closes the plan.
func (r Request) Plan(ctx context.Context, stop context.CancelCauseFunc) (*Plan, error) {
	if r.Detector == "" {
		r.Detector = defaultDetector(r.Corpora, r.Positive)
	}
	b := &builder{backends: r.Backends, stop: stop}
	p := &Plan{}
	var selecting, limiting, detecting, agreeing, opening, scoring error
	var kind detect.CorpusKind
	p.selection, selecting = parseSelection(r.Only)
	p.limits, limiting = parseLimits(r.Min)
	p.Detectors, detecting = b.both(ctx, r)
	kind, agreeing = kindOfItems(r.Corpora, r.Positive, p.Detectors)
	p.corpora, opening = openCorpora(r.Corpora, kind, r.Stdin)
	p.Scoring = detect.ScoreOptions{Kind: kind, Positive: r.Positive, Seed: r.Seed, MaxErrors: r.MaxErrors}
	if agreeing == nil {
		scoring = p.Scoring.Validate()
	}
	p.closers = b.closers
	if err := errors.Join(selecting, limiting, opening, detecting, agreeing, scoring); err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

// Outcome is the result of a run.
type Outcome struct {
	Problems
	Results    []detect.Evaluation // of the detectors
	Comparison *detect.Comparison  // nil for one detector
	Items      int                 // that the detectors were asked about
	// Interrupted is true if the context ended before the corpora did.
	Interrupted bool
}

// Run asks the detectors about the selected items, and calls progress after each.
func (p *Plan) Run(ctx context.Context, workers int, progress func(n int, r detect.Result)) *Outcome {
	var o Outcome
	var scorers []*detect.Scorer
	for _, d := range p.Detectors {
		options := p.Scoring
		options.Detector = d.Name()
		scorers = append(scorers, detect.NewScorer(options))
	}
	var pair *detect.Pair
	if len(p.Detectors) == 2 { // differences are those to the other one
		pair = detect.NewPair(p.Detectors[1].Name(), p.Detectors[0].Name(), p.Scoring)
	}
	for r, err := range detect.Run(ctx, p.Items(ctx), p.Detectors, detect.RunOptions{Workers: workers, Clock: clock.Real()}) {
		if err != nil {
			o.Add(err, clock.Err(ctx) != nil)
			continue
		}
		o.Items++
		for i, scorer := range scorers {
			scorer.Add(r.Item, r.Answers[i].Prediction, r.Answers[i].Err)
		}
		if pair != nil {
			a, b := r.Answers[1], r.Answers[0]
			pair.Add(r.Item, a.Prediction, b.Prediction, a.Err, b.Err)
		}
		progress(o.Items, r)
	}
	o.Interrupted = clock.Err(ctx) != nil
	for _, scorer := range scorers {
		o.Results = append(o.Results, scorer.Result())
	}
	if pair != nil {
		comparison := pair.Result()
		o.Comparison = &comparison
	}
	return &o
}

// Problems collects the problems of corpora.
type Problems struct {
	Lines []string // the first bad lines
	Bad   int      // all bad lines
	Err   error    // that ended the reading of a corpus
}

// maxProblems limits the kept bad lines; all are counted.
const maxProblems = 20

// Add adds a bad line, or the error that ended a corpus. If the run was stopped, that
// error is only a consequence.
func (p *Problems) Add(err error, stopped bool) {
	if _, ok := errors.AsType[*detect.LineError](err); !ok {
		if !stopped {
			p.Err = errors.Join(p.Err, err)
		}
		return
	}
	if p.Bad++; len(p.Lines) < maxProblems {
		p.Lines = append(p.Lines, sanitize.Line(err.Error(), 500))
	}
}

// Nothing returns the error that there was no item: most often the corpus is of another
// kind than the detector.
func (p *Problems) Nothing() error {
	err := errors.New("there is nothing to score: no item is selected; look at the corpora and at --only")
	if p.Bad == 0 {
		return err
	}
	return fmt.Errorf("%w; %s, the first: %s", err, format.Plural(p.Bad, "bad line"), p.Lines[0])
}
