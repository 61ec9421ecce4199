package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"strings"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/harness/detect"
	"github.com/rehearse-dev/rehearse/kinds/evaluate"
)

// The exit codes.
const (
	exitFitted = 0
	exitFailed = 1
)

// maxSamples limits the samples, which are all in memory.
const maxSamples = 100_000

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run runs the program and returns its exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("fit", flag.ContinueOnError)
	flags.SetOutput(stderr)
	var only []string
	flags.Func("only", "fit to items with this `field=value`, such as confidence=high; may be repeated", func(pair string) error {
		only = append(only, pair)
		return nil
	})
	asJSON := flags.Bool("json", false, "print JSON")
	workers := flags.Int("workers", runtime.GOMAXPROCS(0), "how many items are judged at once")
	seed := flags.Uint64("seed", 1, "seed of the resampling behind some intervals")
	if err := flags.Parse(args); err != nil {
		return exitFailed
	}
	request := evaluate.Request{Detector: "guard", Corpora: flags.Args(), Stdin: os.Stdin, Only: only, Seed: *seed}
	result, problems, err := fitTo(ctx, request, *workers)
	for _, problem := range problems {
		fmt.Fprintln(stderr, "fit:", problem)
	}
	if err == nil {
		write := writeTables
		if *asJSON {
			write = writeJSON
		}
		err = write(stdout, result)
	}
	if err != nil {
		fmt.Fprintln(stderr, "fit:", strings.TrimPrefix(err.Error(), "fit: "))
		return exitFailed
	}
	return exitFitted
}

// fitTo fits weights to the items of a request, and returns the bad lines among them.
func fitTo(ctx context.Context, request evaluate.Request, workers int) (Result, []string, error) {
	plan, err := request.Plan(ctx, nil)
	if err != nil {
		return Result{}, nil, err
	}
	defer plan.Close()
	var samples []Sample
	var problems evaluate.Problems
	for r, err := range detect.Run(ctx, plan.Items(ctx), plan.Detectors, detect.RunOptions{Workers: workers, Clock: clock.Real()}) {
		switch {
		case err != nil:
			problems.Add(err, clock.Err(ctx) != nil)
			continue
		case len(samples) == maxSamples:
			return Result{}, problems.Lines, fmt.Errorf("there are more than %d items, which is the limit", maxSamples)
		case r.Answers[0].Err != nil: // the guard fails only where it is broken
			return Result{}, problems.Lines, fmt.Errorf("judge item %s: %w", r.Item.ID, r.Answers[0].Err)
		}
		prediction := r.Answers[0].Prediction
		prediction.Took = 0 // it differs from run to run
		samples = append(samples, Sample{Item: r.Item, Prediction: prediction})
	}
	switch {
	case clock.Err(ctx) != nil:
		return Result{}, problems.Lines, clock.Err(ctx) // weights of half a corpus are useless
	case problems.Err != nil:
		return Result{}, problems.Lines, problems.Err
	case len(samples) == 0:
		return Result{}, problems.Lines, problems.Nothing()
	}
	result, err := Fit(samples, Options{Positive: request.Positive, Weight: labelWeight, Seed: request.Seed})
	return result, problems.Lines, err
}

// labelWeight returns how much an item counts: a doubtful label teaches less.
func labelWeight(item detect.Item) float64 {
	switch evaluate.Confidence(item) {
	case "low":
		return 0.25
	case "medium":
		return 0.5
	}
	return 1
}
