package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/harness/corpus"
	"github.com/rehearse-dev/rehearse/harness/detect"
	"github.com/rehearse-dev/rehearse/harness/detect/fit"
	"github.com/rehearse-dev/rehearse/internal/atomicdir"
	"github.com/rehearse-dev/rehearse/internal/tty"
	"github.com/rehearse-dev/rehearse/reports/detection"
	"github.com/rehearse-dev/rehearse/reports/doc"
)

const (
	// fitJSON is the file of --fit.
	fitJSON = "fit.json"
	// maxSamples bounds what is fitted to, which is all held in memory.
	maxSamples = 100_000
)

// checkFit refuses what does not go with --fit.
func (d *detectFlags) checkFit() error {
	if !strings.HasPrefix(d.detector.spec, "guard") {
		return fmt.Errorf("--fit: the detector %s has no signals to weigh; only the guard has", d.detector.spec)
	}
	var others []string
	if d.against.spec != "" {
		others = append(others, "--against")
	}
	if len(d.min) > 0 {
		others = append(others, "--min")
	}
	if d.detector.threshold > 0 {
		others = append(others, "--threshold")
	}
	if len(others) > 0 {
		return fmt.Errorf("--fit does not go together with %s", strings.Join(others, " and "))
	}
	return nil
}

// sureness is how much an item counts when weights are fitted: a doubtful label
// teaches less.
func sureness(item corpus.Item) float64 {
	switch orHigh(item.Confidence) {
	case "low":
		return 0.25
	case "medium":
		return 0.5
	}
	return 1
}

// fitDetect fits weights to the guard's signals, instead of scoring.
func (a *app) fitDetect(ctx context.Context, plan detectPlan, out *atomicdir.Folder, flags detectFlags) error {
	samples, read := a.samples(ctx, plan, flags.workers)
	for _, problem := range read.problems {
		fmt.Fprintln(a.stderr, "rehearse:", problem)
	}
	switch {
	case read.interrupted:
		return quiet(exitInterrupted) // weights of half a corpus help nobody
	case read.reading != nil:
		return noVerdict(read.reading)
	case len(samples) == 0:
		return usage(read.nothing())
	}
	result, err := fit.Fit(samples, fit.Options{
		Positive: plan.scoring.Positive, Weight: sureness, Seed: plan.scoring.Seed,
	})
	if err != nil {
		return usage(err)
	}
	if flags.asJSON {
		err = detection.FitJSON(a.stdout, result)
	} else {
		err = doc.Terminal(a.stdout, detection.FitDocument(result), tty.Of(a.stdout, a.getenv))
	}
	if err != nil {
		return noVerdict(err)
	}
	if out != nil {
		if err := a.writeFit(result, out); err != nil {
			return noVerdict(err)
		}
	}
	if flags.strict && read.bad > 0 {
		return usage(badLines(read.bad))
	}
	return nil
}

func (a *app) writeFit(result fit.Result, out *atomicdir.Folder) error {
	file, err := out.Create(fitJSON)
	if err != nil {
		return err
	}
	if err := detection.FitJSON(file, result); err != nil {
		return atomicdir.Explain(err)
	}
	if err := out.Commit(file); err != nil {
		return err
	}
	fmt.Fprintf(a.stderr, "%s is in %s\n", fitJSON, out.Path())
	return nil
}

// samples asks the detector about all selected items.
func (a *app) samples(ctx context.Context, plan detectPlan, workers int) ([]fit.Sample, *scoredItems) {
	read := &scoredItems{}
	view := newDetectView(a.stderr, tty.Of(a.stderr, a.getenv), time.Now)
	defer view.close()
	var samples []fit.Sample
	options := detect.RunOptions{Workers: workers, Clock: clock.Real()}
	for r, err := range detect.Run(ctx, plan.items(ctx), plan.detectors, options) {
		switch {
		case err != nil:
			read.wrong(err, clock.Err(ctx) != nil)
			continue
		case len(samples) == maxSamples:
			read.reading = fmt.Errorf("there are more than %d items, which is the most that --fit takes", maxSamples)
		case r.Answers[0].Err != nil: // the guard fails only where it is broken
			read.reading = fmt.Errorf("judge item %s: %w", r.Item.ID, r.Answers[0].Err)
		}
		if read.reading != nil {
			break
		}
		prediction := r.Answers[0].Prediction
		prediction.Took = 0 // weights hang on nothing that differs from run to run
		samples = append(samples, fit.Sample{Item: r.Item, Prediction: prediction})
		view.item(len(samples), r)
	}
	read.interrupted = clock.Err(ctx) != nil
	return samples, read
}

var errNothing = errors.New("there is nothing to score: no item is selected; look at the corpora and at --only")

func badLines(n int) error {
	return fmt.Errorf("%s in the corpora, and --strict", plural(n, "bad line"))
}
