package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/harness/corpus"
	"github.com/rehearse-dev/rehearse/harness/detect"
	"github.com/rehearse-dev/rehearse/harness/detect/score"
	"github.com/rehearse-dev/rehearse/internal/atomicdir"
	"github.com/rehearse-dev/rehearse/internal/quantity"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
	"github.com/rehearse-dev/rehearse/internal/tty"
	"github.com/rehearse-dev/rehearse/llm/budget"
	"github.com/rehearse-dev/rehearse/reports/detection"
)

const detectExitCodes = `Exit codes:
  0    scored, and every --min is reached
  1    a --min is not reached
  2    usage, nothing to score, or with --strict a bad line in a corpus
  3    no verdict: nothing could be scored; or not everything, and there is a --min
  130  interrupted; what was scored so far is reported`

// The files of detect.
const (
	detectJSON     = "detect.json"
	detectMarkdown = "detect.md"
)

// detectPictures are precision and recall, and the thresholds of a detector and of the
// one that it is compared with.
var detectPictures = [...]string{"detect.svg", "thresholds.svg", "thresholds-against.svg"}

// detectFlags are the flags of detect.
type detectFlags struct {
	detector, against detectorFlags
	shared            detectorSettings
	out               string
	workers           int
	by, only          []string
	positive          []string
	min               []string
	errors            int
	seed              uint64
	strict, asJSON    bool
	fit               bool
}

func (a *app) detectCommand() *cobra.Command {
	var flags detectFlags
	cmd := &cobra.Command{
		Use:   "detect [CORPUS.jsonl|shipped|reflections|-]...",
		Short: "Score a detector of deferred work, or of complacent reflections, on labelled texts",
		Long: `detect asks a detector about each item of a corpus and scores what it says: confusion counts
first, then precision, recall, F1 and false-positive rate with 95 % intervals, overall and by
group; steps and spans; a threshold curve; latency; and the errors, to learn from them.

A corpus has a JSON object a line: text and label (defers, asks, suggests, clean; or true, false),
and if known id, lang, categories, steps, tags, confidence, part, repo. "shipped", the default, is
this project's own. A bad line is told as file:line, and the rest is scored.

Of reflections ("reflections" are this project's own) the labels are complacent and critical, and
the text is what a ReAct agent writes: YAML with the keys observation, reflection and decision.

Detectors:
  guard, guard:strict   the stop guard, under its balanced or its strict policy
  naive                 49 regular expressions over the raw text: the baseline
  reflection            the rule on reflections: a critical one cites a fact of its observation
  overlap               any word in common makes it critical: the baseline for reflections
  command:PROGRAM ARGS  a program, started once: reads {"id","text","lang"} a line, and
                        answers each with a line {"id","positive","score",...}
  http://HOST/PATH      the same by POST, a request an item; http:URL is the same
  llm:BACKEND           a model: openai, or an agent (claude, codex, gemini, copilot), which runs
                        in an empty folder; what messages say may still mislead it

An answer holds positive (true or false) and may hold class, score (0 to 1), spans (ranges of
bytes), categories, steps, reasons; or error. What a detector cannot tell is counted apart, and
never taken for a no. Models and hosts other than this machine need --live, and
REHEARSE_OFFLINE=1 forbids them.

` + detectExitCodes,
		Example: `  rehearse detect                                  the guard on the shipped messages
  rehearse detect messages.jsonl --against naive --only confidence=high --only lang=fr
  rehearse detect messages.jsonl --min recall=0.9 --min precision=0.9 --out reports
  rehearse detect messages.jsonl --detector 'command:python3 mine.py' --errors 3
  rehearse detect messages.jsonl --fit --json > weights.json
  rehearse detect reflections --against overlap --by language,part
  rehearse detect messages.jsonl --detector llm:openai --live --max-cost "1 EUR"`,
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return []string{shippedCorpus, shippedReflections}, cobra.ShellCompDirectiveDefault
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if flags.detector.spec == "" {
				flags.detector.spec = defaultDetector(args, flags.positive)
			}
			return a.runDetect(cmd.Context(), args, flags)
		},
	}
	flags.register(cmd)
	return cmd
}

func (d *detectFlags) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVarP(&d.detector.spec, "detector", "d", "", "which detector is scored (default guard; of reflections reflection)")
	f.StringVar(&d.against.spec, "against", "", "another one on the same items, to compare with")
	f.Float64Var(&d.detector.threshold, "threshold", 0, "take as positive what the detector scores at least that, above 0 to 1")
	f.StringSliceVar(&d.positive, "positive", nil, "the `labels` that are to be found (default defers; of reflections complacent)")
	f.StringArrayVar(&d.only, "only", nil, "score only items with that, such as `confidence=high`")
	f.StringSliceVar(&d.by, "by", []string{"language", "category", "part", "confidence"}, "show the scores by these `groups`;\nthe JSON has all")
	f.IntVar(&d.errors, "errors", 5, "show that many false positives, and that many false negatives")
	f.StringArrayVar(&d.min, "min", nil, "fail below that value of the scores overall, such as `recall=0.9`")
	f.BoolVar(&d.strict, "strict", false, "exit with 2 after a bad line; the rest is scored all the same")
	f.BoolVar(&d.fit, "fit", false, "do not score: fit weights for the guard's signals, cross-validated by repository")
	f.StringVarP(&d.out, "out", "o", "", "folder for "+detectJSON+", "+detectMarkdown+" and pictures (SVG), or for "+fitJSON)
	f.BoolVar(&d.asJSON, "json", false, "print the scores as JSON on standard output")
	f.IntVarP(&d.workers, "workers", "w", runtime.GOMAXPROCS(0), "how many items are under way at once")
	f.Uint64Var(&d.seed, "seed", 1, "of the resampling behind some intervals")
	f.DurationVar(&d.shared.timeout, "timeout", detect.DefaultTimeout, "how long a program, endpoint or model may take for an item")
	f.BoolVar(&d.shared.live, "live", false, "allow models and other machines")
	f.StringVarP(&d.shared.model, "model", "m", "", "the model of llm:BACKEND (default: the backend's own)")
	d.shared.maxCost.into = new(quantity.Money)
	f.Var(&d.shared.maxCost, "max-cost", `stop when llm:BACKEND has cost that, such as "1 EUR"`)
	f.Lookup("max-cost").DefValue = ""
	f.StringVar(&d.shared.prices, "prices", "", "a price file whose entries override the shipped table")
	complete := func(flag string, values []string, directive cobra.ShellCompDirective) {
		_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, directive|cobra.ShellCompDirectiveNoFileComp))
	}
	complete("detector", detectorSpecs(), cobra.ShellCompDirectiveNoSpace)
	complete("against", detectorSpecs(), cobra.ShellCompDirectiveNoSpace)
	complete("by", dimensionNames(), 0)
	complete("positive", slices.Concat(corpus.Messages.Labels(), corpus.Reflections.Labels()), 0)
	complete("only", selectorStarts(), cobra.ShellCompDirectiveNoSpace)
	complete("min", minStarts(), cobra.ShellCompDirectiveNoSpace)
	_ = cmd.MarkFlagDirname("out")
}

// detectPlan is what the flags and arguments say.
type detectPlan struct {
	kind      corpus.Kind
	corpora   []corpusFile
	detectors []detect.Detector
	selection selection
	limits    []limit
	by        []string
	scoring   score.Options
}

func (a *app) runDetect(ctx context.Context, args []string, flags detectFlags) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	plan, closing, err := a.planDetect(ctx, args, flags, cancel)
	if err != nil {
		return usage(err)
	}
	defer closing()
	var out *atomicdir.Folder
	if flags.out != "" {
		if out, err = atomicdir.Open(flags.out); err != nil {
			return usage(err) // nothing was run
		}
		defer func() { _ = out.Close() }() // the end of the process frees it as well
	}
	if flags.fit {
		return a.fitDetect(ctx, plan, out, flags)
	}
	scored := a.scoreItems(ctx, plan, flags.workers)
	report := scored.report(plan)
	if err := a.showDetect(report, plan, out, flags); err != nil {
		return noVerdict(err)
	}
	return a.concludeDetect(ctx, scored, report, plan, flags)
}

// planDetect checks everything before anything is asked. Closing ends what the
// detectors have started.
func (a *app) planDetect(ctx context.Context, args []string, flags detectFlags, stop context.CancelCauseFunc) (plan detectPlan, closing func(), err error) {
	if flags.workers < 1 {
		return plan, nil, fmt.Errorf("--workers %d: at least 1 item must be under way", flags.workers)
	}
	if flags.errors < 0 {
		return plan, nil, fmt.Errorf("--errors %d: it must be at least 0", flags.errors)
	}
	if flags.fit {
		if err := flags.checkFit(); err != nil {
			return plan, nil, err
		}
	}
	if plan.by, err = dimensions(flags.by); err != nil {
		return plan, nil, err
	}
	var err1, err2, err3, err4, err5 error
	plan.selection, err1 = parseSelection(flags.only)
	plan.limits, err2 = parseLimits(flags.min)
	plan.detectors, closing, err4 = a.findDetectors(ctx, flags, stop)
	plan.kind, err5 = kindOfItems(args, flags.positive, plan.detectors)
	plan.corpora, err3 = a.openCorpora(args, plan.kind)
	plan.scoring = score.Options{Kind: plan.kind, Positive: flags.positive, Seed: flags.seed, MaxErrors: max(50, flags.errors)}
	if err5 == nil {
		err5 = plan.scoring.Validate()
	}
	if err = errors.Join(err1, err2, err3, err4, err5); err != nil && err4 == nil {
		closing()
	}
	return plan, closing, err
}

// scoredItems is how far a run came.
type scoredItems struct {
	scorers     []*score.Scorer // one for each detector
	pair        *score.Pair     // nil for one detector
	items       int             // that were selected and asked about
	problems    []string        // the first of the bad lines
	bad         int             // all of them
	reading     error           // that ended the reading of a corpus
	interrupted bool
}

// maxProblems is how many bad lines are told; all are counted.
const maxProblems = 20

// scoreItems asks the detectors about the selected items of the corpora.
func (a *app) scoreItems(ctx context.Context, plan detectPlan, workers int) *scoredItems {
	s := &scoredItems{}
	for _, d := range plan.detectors {
		options := plan.scoring
		options.Detector = d.Name()
		s.scorers = append(s.scorers, score.New(options))
	}
	if len(plan.detectors) == 2 { // differences are those to the other one
		s.pair = score.NewPair(plan.detectors[1].Name(), plan.detectors[0].Name(), plan.scoring)
	}
	view := newDetectView(a.stderr, tty.Of(a.stderr, a.getenv), time.Now)
	defer view.close()
	options := detect.RunOptions{Workers: workers, Clock: clock.Real()}
	for r, err := range detect.Run(ctx, plan.items(ctx), plan.detectors, options) {
		if err != nil {
			s.wrong(err, clock.Err(ctx) != nil)
			continue
		}
		s.add(r)
		view.item(s.items, r)
	}
	s.interrupted = clock.Err(ctx) != nil
	return s
}

// wrong takes a bad line, or the error that ended a corpus.
func (s *scoredItems) wrong(err error, stopped bool) {
	if _, ok := errors.AsType[*corpus.LineError](err); !ok {
		if !stopped { // else it is how the reading was stopped
			s.reading = errors.Join(s.reading, err)
		}
		return
	}
	if s.bad++; len(s.problems) < maxProblems {
		s.problems = append(s.problems, sanitize.Line(err.Error(), 500))
	}
}

func (s *scoredItems) add(r detect.Result) {
	s.items++
	for i, scorer := range s.scorers {
		scorer.Add(r.Item, r.Answers[i].Prediction, r.Answers[i].Err)
	}
	if s.pair != nil {
		a, b := r.Answers[1], r.Answers[0]
		s.pair.Add(r.Item, a.Prediction, b.Prediction, a.Err, b.Err)
	}
}

// nothing says why there is nothing to score: most often the corpus is of another
// kind than the detector.
func (s *scoredItems) nothing() error {
	if s.bad == 0 {
		return errNothing
	}
	return fmt.Errorf("%w; %s, the first: %s", errNothing, plural(s.bad, "bad line"), s.problems[0])
}

// report is what is known so far.
func (s *scoredItems) report(plan detectPlan) detection.Report {
	report := detection.Report{Tool: "rehearse " + toolVersion(), Interrupted: s.interrupted, Problems: slices.Clone(s.problems)}
	if more := s.bad - len(s.problems); more > 0 {
		report.Problems = append(report.Problems, fmt.Sprintf("and %s more", plural(more, "bad line")))
	}
	if s.reading != nil {
		report.Problems = append(report.Problems, sanitize.Line(s.reading.Error(), 500))
	}
	for _, c := range plan.corpora {
		report.Corpora = append(report.Corpora, c.told())
	}
	for _, scorer := range s.scorers {
		report.Detectors = append(report.Detectors, scorer.Result())
	}
	if s.pair != nil {
		report.Comparisons = append(report.Comparisons, s.pair.Result())
	}
	return report
}

// concludeDetect says what the scores mean to a script.
func (a *app) concludeDetect(ctx context.Context, s *scoredItems, report detection.Report, plan detectPlan, flags detectFlags) error {
	if s.interrupted {
		if spent, ok := errors.AsType[*budget.Exceeded](clock.Err(ctx)); ok {
			return noVerdict(fmt.Errorf("stopped before the end by --max-cost: %w", spent))
		}
		return quiet(exitInterrupted)
	}
	first := report.Detectors[0]
	switch {
	case s.reading != nil:
		return noVerdict(s.reading)
	case flags.strict && s.bad > 0:
		return usage(badLines(s.bad))
	case s.items == 0:
		return usage(s.nothing())
	case first.Scored == 0:
		return noVerdict(fmt.Errorf("the detector %s failed on every item", sanitize.Line(first.Detector, 80)))
	}
	missed, unknown := holdTo(plan.limits, first)
	switch {
	case len(missed) > 0:
		return &exitError{exitFail, errors.New(strings.Join(missed, "; "))}
	case len(unknown) > 0:
		return noVerdict(errors.New(strings.Join(unknown, "; ")))
	}
	return nil
}
