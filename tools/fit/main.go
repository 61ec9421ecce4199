// Command fit fits the weights that the stop guard is shipped with:
//
//	go run ./tools/fit -guide GUIDE.md -out agents/stop/weights.bin messages.jsonl
//
// It validates them on repositories that they have not seen, and with -attempts compares the
// groups of features in the same way. The messages of this project's fixtures must be judged
// right, and are not validated. One corpus gives the same weights each time.
package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/agents/stop"
	stopkind "github.com/rehearse-dev/rehearse/agents/stop/kind"
	"github.com/rehearse-dev/rehearse/agents/stop/train"
	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/fixtures"
	"github.com/rehearse-dev/rehearse/harness/detect"
	"github.com/rehearse-dev/rehearse/internal/atomicdir"
	"github.com/rehearse-dev/rehearse/kinds/evaluate"
)

func main() {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	cancel()
	if err != nil {
		fmt.Fprintln(os.Stderr, "fit:", strings.TrimPrefix(err.Error(), "fit: "))
		os.Exit(1)
	}
}

// fixtureWeight is the weight of a message of the fixtures before it grows.
const fixtureWeight = 0.3

type config struct {
	corpora    []string
	guide, out string
	date       string
	attempts   bool
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	var c config
	flags := flag.NewFlagSet("fit", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&c.guide, "guide", "", "labelling guide, whose hash is kept with the weights")
	flags.StringVar(&c.out, "out", "", "write the weights to this file")
	flags.StringVar(&c.date, "date", clock.Real().Now().Format("2006-01-02"), "day that is kept with the weights")
	flags.BoolVar(&c.attempts, "attempts", false, "compare the groups of features")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if c.corpora = flags.Args(); len(c.corpora) == 0 {
		return fmt.Errorf("name at least one corpus")
	}
	items, err := read(ctx, c.corpora)
	if err != nil {
		return err
	}
	own, err := read(ctx, []string{evaluate.ShippedMessages})
	if err != nil {
		return err
	}
	var examples []train.Example
	for _, item := range items {
		examples = append(examples, stopkind.Example(item))
	}
	if c.attempts {
		return compare(ctx, stdout, stderr, items, examples)
	}
	for _, item := range own {
		e := stopkind.Example(item)
		e.Must, e.Weight = true, fixtureWeight
		examples = append(examples, e)
	}
	orders, err := ordersExamples()
	if err != nil {
		return err
	}
	examples = append(examples, orders...)
	result, err := fit(ctx, items, examples, train.Options{}, "shipped features", stdout, stderr)
	if err != nil {
		return err
	}
	return c.write(result.Weights)
}

// read reads the items of corpora; a bad line is an error.
func read(ctx context.Context, corpora []string) ([]detect.Item, error) {
	plan, err := evaluate.Request{Detector: "naive", Corpora: corpora, Stdin: os.Stdin}.Plan(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer plan.Close()
	var items []detect.Item
	for item, err := range plan.Items(ctx) {
		if err != nil {
			return nil, err
		}
		items = append(items, item)
	}
	return items, nil
}

// ordersExamples returns the messages of the fixtures on what may be ordered, as examples that
// must be judged right. Those that wait for an approval are left out: a rule decides on them.
func ordersExamples() ([]train.Example, error) {
	var all []train.Example
	for line := range bytes.Lines(fixtures.Orders) {
		var m struct{ Kind, Balanced, Text string }
		if err := json.Unmarshal(line, &m); err != nil {
			return nil, err
		}
		e := train.Example{Message: m.Text, Class: stop.Clean, Weight: fixtureWeight, Must: true}
		if m.Balanced == "refused" {
			e.Class = stop.Defers
		}
		if m.Kind != "approval" {
			all = append(all, e)
		}
	}
	return all, nil
}

// fit fits weights and prints lines on how well they do on messages that they have not seen.
func fit(
	ctx context.Context, items []detect.Item, examples []train.Example, o train.Options, name string, out, progress io.Writer,
) (train.Result, error) {
	set, err := train.NewSet(examples, o)
	if err != nil {
		return train.Result{}, err
	}
	result, err := set.Fit(ctx, func(done, all int) { fmt.Fprintf(progress, "\r%s: fit %d of %d ", name, done, all) })
	fmt.Fprintln(progress)
	if err != nil {
		return train.Result{}, err
	}
	for _, known := range []bool{true, false} {
		e, err := evaluateUnseen(ctx, items, result, known)
		if err != nil {
			return result, err
		}
		if !known {
			name += ", unknown request"
		}
		writeScores(out, name, e)
	}
	t := result.Weights.Thresholds
	fmt.Fprintf(progress, "thresholds: balanced %.3f, strict %.3f, careful %.3f; %d runs of words and pairs\n",
		t.Balanced, t.Strict, t.Careful, len(result.Weights.Keys()))
	return result, nil
}

// evaluateUnseen scores weights on items that they have not seen, with the request or without.
func evaluateUnseen(ctx context.Context, items []detect.Item, result train.Result, known bool) (detect.Evaluation, error) {
	scorer := detect.NewScorer(detect.ScoreOptions{})
	seq := func(yield func(detect.Item, error) bool) {
		for _, item := range items {
			if !known {
				item.Request = ""
			}
			if !yield(item, nil) {
				return
			}
		}
	}
	detectors := []detect.Detector{stopkind.UnseenDetector(result)}
	for r, err := range detect.Run(ctx, seq, detectors, detect.RunOptions{Clock: clock.Real()}) {
		if err != nil {
			return detect.Evaluation{}, err
		}
		scorer.Add(r.Item, r.Answers[0].Prediction, r.Answers[0].Err)
	}
	return scorer.Result(), nil
}

// compare fits weights to groups of features, without the fixtures: the few weights of signals
// alone cannot judge all of those right.
func compare(ctx context.Context, out, progress io.Writer, items []detect.Item, examples []train.Example) error {
	signals, words, request, cross := stop.SignalFeatures, stop.WordFeatures, stop.RequestFeatures, stop.CrossFeatures
	for _, attempt := range []struct {
		name   string
		groups []stop.FeatureGroup
	}{
		{"words", []stop.FeatureGroup{words}},
		{"signals", []stop.FeatureGroup{signals}},
		{"signals, words", []stop.FeatureGroup{signals, words}},
		{"signals, request", []stop.FeatureGroup{signals, request}},
		{"signals, words, request", []stop.FeatureGroup{signals, words, request}},
		{"signals, words, request, pairs", []stop.FeatureGroup{signals, words, request, cross}},
	} {
		if _, err := fit(ctx, items, examples, train.Options{Groups: attempt.groups}, attempt.name, out, progress); err != nil {
			return err
		}
	}
	return nil
}

// writeScores writes a line of a Markdown table.
func writeScores(out io.Writer, name string, e detect.Evaluation) {
	part := func(by, group string) string {
		i := slices.IndexFunc(e.Groups, func(d detect.Dimension) bool { return d.By == by })
		if i < 0 {
			return "n/a"
		}
		j := slices.IndexFunc(e.Groups[i].Groups, func(g detect.Group) bool { return g.Name == group })
		if j < 0 {
			return "n/a"
		}
		return value(e.Groups[i].Groups[j].F1)
	}
	var area, calibration *float64
	if e.Curve != nil {
		area = e.Curve.AveragePrecision
	}
	if e.Calibration != nil {
		calibration = e.Calibration.Error.Value
	}
	steps := "n/a"
	for _, m := range e.Steps {
		if m.Scope == "detected" {
			steps = value(m.Overlap.F1)
		}
	}
	fmt.Fprintf(out, "| %s | %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", name, number(area), value(e.Overall.F1),
		value(e.Overall.Precision), value(e.Overall.Recall), part("confidence", "high"), part("part", "natural"),
		part("language", "fr"), number(calibration), steps)
}

// value formats a score with its 95 % interval.
func value(v detect.Value) string {
	if v.Value == nil || v.Interval == nil {
		return number(v.Value)
	}
	return fmt.Sprintf("%.3f (%.2f to %.2f)", *v.Value, v.Interval.Lo, v.Interval.Hi)
}

func number(x *float64) string {
	if x == nil {
		return "n/a"
	}
	return fmt.Sprintf("%.3f", *x)
}

// write stores the weights with what they were fitted to.
func (c config) write(w *stop.Weights) error {
	if c.out == "" {
		return nil
	}
	w.Date = c.date
	hash := sha256.New()
	for _, name := range c.corpora {
		content, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		hash.Write(content)
	}
	w.Data = fmt.Sprintf("%x", hash.Sum(nil))
	if c.guide != "" {
		content, err := os.ReadFile(filepath.Clean(c.guide))
		if err != nil {
			return err
		}
		w.Guide = fmt.Sprintf("%x", sha256.Sum256(content))
	}
	content, err := w.MarshalBinary()
	if err != nil {
		return err
	}
	return atomicdir.Replace(c.out, content)
}
