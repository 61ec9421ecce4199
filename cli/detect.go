package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/harness/detect"
	"github.com/rehearse-dev/rehearse/internal/atomicdir"
	"github.com/rehearse-dev/rehearse/internal/console"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
	"github.com/rehearse-dev/rehearse/kinds/evaluate"
	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/llm/price"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/rundir"
)

const detectExitCodes = `Exit codes:
  0    scored, and every --min is reached; with --label, all labels are saved
  1    a --min is not reached
  2    usage, nothing to score, or with --strict a bad line in a corpus
  3    no verdict: nothing could be scored; or not everything, and there is a --min; or a label
       could not be saved
  130  interrupted; what was scored so far is reported`

// detectFlags are the flags of detect.
type detectFlags struct {
	detector, against string
	threshold         float64
	timeout           time.Duration
	live              bool
	model, prices     string
	maxCost           moneyFlag
	out               string
	workers           int
	by, only          []string
	positive          []string
	min               []string
	errors            int
	seed              uint64
	strict, asJSON    bool
	label, agreement  bool
	annotator         string
	fit               string
}

func (a *app) detectCommand() *cobra.Command {
	var flags detectFlags
	cmd := &cobra.Command{
		Use:   "detect [CORPUS.jsonl|shipped|reflections|-]...",
		Short: "Score a detector on labelled messages or reflections",
		Long: `detect asks a detector of deferred work, or of complacent reflections, about each item of a corpus
and scores its answers: confusion counts first, then precision, recall, F1 and false-positive rate with 95 % intervals, overall and by
group; steps and spans; thresholds; how far the scores are probabilities; latency; and the errors,
to learn from them. Categories and steps that no label of the corpus names are n/a.

A corpus has a JSON object a line: text and label (defers, asks, suggests, clean; or true, false),
and if known id, request, lang, categories, steps, tags, confidence, part, repo. "shipped", the default, is
this project's own. A bad line is reported as file:line, and the rest is scored.

Of reflections ("reflections" are this project's own) the labels are complacent and critical, and
the text is an answer of a ReAct agent: YAML with the keys observation, reflection and decision.

Detectors:
  guard, guard:strict, guard:careful
                        the stop guard under a policy
  naive                 49 regular expressions over the raw text: the baseline
  reflection            the rule on reflections: a critical one cites a fact of its observation
  overlap               any word in common makes it critical: the baseline for reflections
  command:PROGRAM ARGS  a program, started once: reads a line
                        {"id","text","request","lang"} for each item, and
                        answers it with a line {"id","positive","score",...}
  http://HOST/PATH      the same by POST, a request an item; http:URL is the same
  llm:BACKEND           a model: openai, or an agent (claude, codex, copilot, gemini, opencode,
                        qwen), which runs in an empty folder; the text of messages may still mislead it

An answer has positive (true or false), and optionally class, score (0 to 1), spans (ranges of
bytes), categories, steps and reasons; or it has error. Items without an answer are counted
separately, never as negatives. Models and hosts other than this machine need --live, and
REHEARSE_OFFLINE=1 forbids them.

--label shows the messages of a file one by one on a terminal, each below its request (the keys
"text" and "request"), and saves each label at once: those of mine.jsonl in mine.labels.jsonl, which
is a corpus. It continues where it stopped. --annotator NAME saves in mine.NAME.jsonl, for a second
person, who does not see other labels. --agreement compares two such files.

--fit FILE fits the guard to your messages: it starts from the shipped weights, writes the fitted
ones to FILE (for rehearse guard --weights FILE), and scores guard:fitted beside the shipped guard:
each item is judged with weights that were fitted without its repository (key "repo"; without it,
without a tenth of the items). A few hundred labelled messages of several repositories are worth
trying.

` + detectExitCodes,
		Example: `  rehearse detect                         score the guard on the shipped messages
  rehearse detect messages.jsonl --against naive --only lang=fr
  rehearse detect messages.jsonl --min recall=0.9 --min precision=0.9 -o reports
  rehearse detect messages.jsonl --detector 'command:python3 mine.py' --errors 3
  rehearse detect reflections --against overlap --by language,part
  rehearse detect --label mine.jsonl --annotator ada
  rehearse detect --agreement mine.ada.jsonl mine.ben.jsonl
  rehearse detect mine.labels.jsonl --fit mine.weights
  rehearse detect messages.jsonl --detector llm:openai --live --max-cost "1 EUR"`,
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return []string{evaluate.ShippedMessages, evaluate.ShippedReflections}, cobra.ShellCompDirectiveDefault
		},
		RunE: func(cmd *cobra.Command, args []string) error { return a.detect(cmd, args, flags) },
	}
	flags.register(cmd)
	return cmd
}

// detect does what the flags select.
func (a *app) detect(cmd *cobra.Command, args []string, flags detectFlags) error {
	if err := flags.checkMode(cmd.Flags()); err != nil {
		return usage(err)
	}
	switch {
	case flags.label:
		return a.labelMessages(cmd.Context(), args, flags.annotator)
	case flags.agreement:
		return a.compareLabels(args, flags.asJSON)
	}
	return a.runDetect(cmd.Context(), args, flags)
}

func (d *detectFlags) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVarP(&d.detector, "detector", "d", "", "the detector to score (default guard; for reflections, reflection)")
	f.StringVar(&d.against, "against", "", "another detector to compare with, on the same items")
	f.Float64Var(&d.threshold, "threshold", 0, "the score from which an item is positive, above 0 to 1")
	f.StringSliceVar(&d.positive, "positive", nil, "the `labels` to be found (default defers; for reflections, complacent)")
	f.StringArrayVar(&d.only, "only", nil, "score only items with this value, such as `confidence=high`")
	f.StringSliceVar(&d.by, "by", []string{"language", "category", "part", "repository", "confidence"},
		"show the scores by these `groups`; the JSON has all")
	f.IntVar(&d.errors, "errors", 5, "number of false positives and of false negatives to show")
	f.StringArrayVar(&d.min, "min", nil, "fail if an overall score is below this value, such as `recall=0.9`")
	f.BoolVar(&d.strict, "strict", false, "exit with code 2 after a bad line; the rest is still scored")
	f.StringVarP(&d.out, "out", "o", "", "folder for detect.html, detect.json, detect.md and plots (SVG)")
	jsonFlag(f, &d.asJSON, "the scores")
	workersFlag(f, &d.workers, "items to judge")
	f.Uint64Var(&d.seed, "seed", 1, "seed of the resampling behind some intervals")
	f.DurationVar(&d.timeout, "timeout", detect.DefaultTimeout, "time limit of a program, endpoint or model for one item")
	f.BoolVar(&d.label, "label", false, "label the messages of a file on this terminal")
	f.StringVar(&d.annotator, "annotator", "", "with --label: the `name` of the annotator")
	f.StringVar(&d.fit, "fit", "", "fit weights of the guard to the messages and write them to this `file`")
	f.BoolVar(&d.agreement, "agreement", false, "compare the labels of two annotators")
	f.BoolVar(&d.live, "live", false, "allow models and other machines")
	f.StringVarP(&d.model, "model", "m", "", "the model of llm:BACKEND (default: the backend's own)")
	f.Var(&d.maxCost, "max-cost", `stop when the cost of llm:BACKEND reaches this amount, such as "1 EUR"`)
	pricesFlag(f, &d.prices)
	complete := func(flag string, values []string, directive cobra.ShellCompDirective) {
		_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, directive|cobra.ShellCompDirectiveNoFileComp))
	}
	complete("detector", evaluate.Detectors(), cobra.ShellCompDirectiveNoSpace)
	complete("against", evaluate.Detectors(), cobra.ShellCompDirectiveNoSpace)
	complete("by", evaluate.Dimensions(), 0)
	complete("positive", slices.Concat(detect.Messages.Labels(), detect.Reflections.Labels()), 0)
	complete("only", append([]string{"confidence=high", "lang=en", "lang=fr"}, starts(evaluate.Fields())...), cobra.ShellCompDirectiveNoSpace)
	complete("min", starts(evaluate.Metrics()), cobra.ShellCompDirectiveNoSpace)
	_ = cmd.MarkFlagDirname("out")
}

// starts returns the beginnings of key=value.
func starts(keys []string) []string {
	list := slices.Clone(keys)
	for i := range list {
		list[i] += "="
	}
	return list
}

// detectRequest returns the request of flags and arguments.
func (a *app) detectRequest(args []string, flags detectFlags) evaluate.Request {
	return evaluate.Request{
		Corpora: args, Stdin: a.stdin,
		Detector: flags.detector, Against: flags.against, Threshold: flags.threshold,
		Backends: evaluate.Backends{
			Timeout: flags.timeout, Live: flags.live, Model: flags.model, MaxCost: flags.maxCost.Money, Getenv: a.getenv,
			Prices: func() (*price.Table, error) { return priceTable(flags.prices) },
		},
		Only: flags.only, Min: flags.min, Positive: flags.positive, Seed: flags.seed, MaxErrors: max(50, flags.errors),
	}
}

func (a *app) runDetect(ctx context.Context, args []string, flags detectFlags) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if err := flags.validate(); err != nil {
		return usage(err)
	}
	plan, err := a.detectRequest(args, flags).Plan(ctx, cancel)
	if err != nil {
		return usage(err)
	}
	defer plan.Close()
	if flags.fit != "" {
		if err := a.fitGuard(ctx, plan, flags); err != nil {
			return err
		}
	}
	var out *atomicdir.Folder
	if flags.out != "" {
		if out, err = atomicdir.Open(flags.out); err != nil {
			return usage(err) // nothing was run
		}
		defer func() { _ = out.Close() }() // the end of the process frees it as well
	}
	origin := a.beginOrigin(ctx, a.historyAddress("") != "", flags.out, nil)
	view := console.NewView(a.stderr, a.terminal(), redactor())
	failed := 0
	outcome := plan.Run(ctx, flags.workers, func(n int, r detect.Result) {
		for _, answer := range r.Answers {
			if answer.Err != nil {
				failed++
			}
		}
		text := format.Plural(n, "item")
		if failed > 0 {
			text += fmt.Sprintf(", %d failed", failed)
		}
		view.Update(text + "  " + view.Clean(r.Item.ID))
	})
	view.Close()
	report := plan.Report(outcome, tool())
	if outcome.Items == 0 && !flags.asJSON { // there is nothing to show, only what is wrong
		return concludeDetect(ctx, plan, outcome, flags.strict)
	}
	if err := a.showDetect(report, out, flags, origin); err != nil {
		return noVerdict(err)
	}
	return concludeDetect(ctx, plan, outcome, flags.strict)
}

// showDetect prints the report and writes it to the folder, if there is one.
func (a *app) showDetect(report reports.Detection, out *atomicdir.Folder, flags detectFlags, origin func() reports.Origin) error {
	errors := flags.errors
	if errors == 0 {
		errors = -1
	}
	d := reports.DetectionDocument(report.ByGroups(flags.by), errors)
	if err := a.show(document{d, report, ""}, flags.asJSON); err != nil || out == nil {
		return err
	}
	if err := rundir.WriteDetection(out, report, d, origin()); err != nil {
		return err
	}
	a.writeNote(out, rundir.DetectionFile, origin())
	fmt.Fprintf(a.stderr, "detect.html, detect.json, detect.md and plots (SVG) are in %s\n", out.Path())
	return nil
}

// validate checks the flags that a request does not check.
func (d *detectFlags) validate() (err error) {
	if err := checkWorkers(d.workers); err != nil {
		return err
	}
	if err := d.checkFit(); err != nil {
		return err
	}
	if d.errors < 0 {
		return fmt.Errorf("--errors must be at least 0, got %d", d.errors)
	}
	d.by, err = evaluate.ParseDimensions(d.by)
	return err
}

// concludeDetect returns the exit code of an outcome.
func concludeDetect(ctx context.Context, plan *evaluate.Plan, o *evaluate.Outcome, strict bool) error {
	if o.Interrupted {
		if spent, ok := errors.AsType[*llm.BudgetError](clock.Err(ctx)); ok {
			return noVerdict(fmt.Errorf("stopped before the end by --max-cost: %w", spent))
		}
		return quiet(exitInterrupted)
	}
	first := o.Results[0]
	switch {
	case o.Err != nil:
		return noVerdict(o.Err)
	case strict && o.Bad > 0:
		return usage(fmt.Errorf("%s in the corpora, and --strict", format.Plural(o.Bad, "bad line")))
	case o.Items == 0:
		return usage(o.Nothing())
	case first.Scored == 0:
		return noVerdict(fmt.Errorf("the detector %s failed on every item", sanitize.Line(first.Detector, 80)))
	}
	missed, unknown := plan.CheckLimits(first)
	switch {
	case len(missed) > 0:
		return &exitError{exitFail, errors.New(strings.Join(missed, "; "))}
	case len(unknown) > 0:
		return noVerdict(errors.New(strings.Join(unknown, "; ")))
	}
	return nil
}
