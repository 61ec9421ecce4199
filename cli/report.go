package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/harness/result"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/rundir"
)

// reportFormats are the formats of report.
var reportFormats = []string{
	formatComment, formatCSV, "eval", "github", "gitlab", formatHTML, "inspect", formatJSON, "junit", formatMarkdown, "otlp", formatTerminal,
}

// reportFlags are the flags of report.
type reportFlags struct {
	format       string
	out          string
	at           string
	scores       string
	verify       bool
	key          string
	failuresOnly bool
	detail       detailFlags
	// requirements is the file of a list of requirements.
	requirements   string
	requireCovered bool
}

func (a *app) reportCommand() *cobra.Command {
	var flags reportFlags
	cmd := &cobra.Command{
		Use:   "report [FOLDER|RECORDING|TRANSCRIPT]",
		Short: "Render or verify a recording, or the transcript of an agent",
		Long: `report verifies a recording, judges it and renders the report; without an argument that of the last
run, exploration or experiment in ` + runsFolder + `. It starts no agent. If the hash
chain shows that a line was changed, removed, inserted or reordered, the report says so at its top
and the exit code is 1. A recording that breaks off is reported as far as it goes, and the exit code
is 3. For the folder of an exploration, the formats terminal, markdown and json show all runs; the
others show its recording: the golden path and the smallest run of each failure. For the folder of
an experiment, the formats terminal, markdown, comment, json and html show its result.

The transcripts of rehearse loop, of rehearse react, and of the attempts of rehearse supervise (attempts/ in the
folder of the state) have the formats terminal, markdown, comment, json and html: iterations with prompts and
answers, decisions, checks, refused tool calls, changes, tokens and cost. The exit code is 0 if the work is
done, 1 if the run ended otherwise, and 3 if the transcript has no end. The state folder of the stop guard has the
same formats: its decisions, as in guard --history.

--requirements FILE reports instead which requirements of a list (YAML or CSV: id, text, link) the run proves: each with the
scenarios that name its id under proves. Its formats are terminal, markdown, comment, csv, json and html.
The exit code is that of the run; with --require-covered it is 1 if a requirement is not proven.

For CI: junit, with a test case for each scenario; github, workflow commands that annotate the lines of
scenario files; gitlab, a code quality report; markdown and comment.

For other programs: inspect and eval are logs of Inspect (https://inspect.aisi.org.uk), one JSON
object and its packed form; otlp is OpenTelemetry spans of the conventions for generative AI, a
line for each trial, which a collector accepts at /v1/traces. A recording has no date: --at sets
its start time.

--verify only checks the chain of hashes, names the lines that were changed, removed or moved (the
first 100), and prints the last hash. The chain detects damage, but not a forgery that recomputes
every hash: keep the last hash elsewhere, or sign the run (rehearse run --sign), to prove that a recording
is the original. Of a signed run, all files are checked; --key FILE checks who signed it.

` + exitCodes,
		Example: `  rehearse report
  rehearse report --json | jq .verdict
  rehearse report rehearse-runs/demo
  rehearse report rehearse-runs/demo --format markdown >> "$GITHUB_STEP_SUMMARY"
  rehearse report rehearse-runs/demo --format html --out demo.html
  rehearse report rehearse-runs/demo --format gitlab --out gl-code-quality-report.json
  rehearse report rehearse-runs/demo --format eval --out demo.eval
  rehearse report rehearse-runs/demo --requirements requirements.csv --format csv --out coverage.csv
  rehearse report rehearse-runs/demo --verify
  rehearse report rehearse-runs/demo --verify --key release-key.pub
  rehearse report rehearse-runs/loop-20261123-101500.000.jsonl --format html --out loop.html
  rehearse report rehearse-runs/react-20261123-101500.000.jsonl
  rehearse report .rehearse/state/demo/attempts/build-2.jsonl --format markdown`,
		Args:              arguments(0, 1, "name the folder of one run, or one recording"),
		ValidArgsFunction: completeRuns,
		RunE: func(cmd *cobra.Command, args []string) error {
			path, err := a.argumentOr(args, rundir.LastRun)
			if err != nil {
				return err
			}
			return a.report(cmd.Context(), path, flags)
		},
	}
	flags.register(cmd)
	return cmd
}

// register adds the flags of report.
func (f *reportFlags) register(cmd *cobra.Command) {
	set := cmd.Flags()
	formatFlag(cmd, &f.format, "the report", reportFormats...)
	set.StringVarP(&f.out, "out", "o", "", "write to this `file`, whole or not at all (default: standard output)")
	set.StringVar(&f.at, "at", "", "start time of the run, for formats with dates: a `time` or now (default "+
		clock.Epoch.Format(time.RFC3339)+")")
	set.StringVar(&f.scores, "scores", "", "a `file` of rehearse detect --json, to show in the HTML page")
	set.BoolVar(&f.verify, "verify", false, "check the recording's hashes, and the signature of the run")
	set.StringVar(&f.key, "key", "", "with --verify: a `file` with the public key, or the allowed signers, that must have signed the run")
	set.StringVar(&f.requirements, "requirements", "", "report which requirements of this list the run proves: a `file`, YAML or CSV")
	set.BoolVar(&f.requireCovered, "require-covered", false, "with --requirements: fail unless every requirement is proven")
	_ = cmd.MarkFlagFilename("requirements", "csv", "yaml", "yml")
	f.detail.register(cmd)
	set.BoolVar(&f.failuresOnly, "failures-only", false, "leave passing scenarios out of the table")
}

func (a *app) report(ctx context.Context, path string, flags reportFlags) error {
	if err := flags.validate(); err != nil {
		return usage(err)
	}
	if kind := transcriptOf(path); kind != nil {
		if flags.requirements != "" {
			return usage(fmt.Errorf("%s is the transcript of an agent; --requirements needs a run", path))
		}
		return a.reportTranscript(kind, path, flags)
	}
	if experiment, err := rundir.ReadExperiment(path); err != nil {
		return noVerdict(err)
	} else if experiment != nil {
		return a.reportExperiment(path, experiment, flags)
	}
	if !flags.verify && flags.requirements == "" && slices.Contains([]string{formatTerminal, formatJSON, formatMarkdown}, flags.format) {
		if explored, err := rundir.ReadExploration(path); err != nil {
			return noVerdict(err)
		} else if explored != nil {
			return a.reportExploration(ctx, path, explored, flags)
		}
	}
	recording, err := rundir.FindRecording(path)
	if err != nil {
		return usage(err)
	}
	if flags.verify {
		return a.verify(ctx, recording, flags)
	}
	in, err := rundir.OpenRecording(ctx, recording, a.language)
	if err != nil {
		return recordingError(ctx, err)
	}
	defer in.Close()
	if flags.requirements != "" {
		code, err := a.reportRequirements(recording, in, flags)
		if err != nil {
			return recordingError(ctx, err)
		}
		return quiet(code)
	}
	start, err := startTime(flags.at)
	if err != nil {
		return usage(err)
	}
	var scores *reports.Detection
	if flags.scores != "" {
		if scores, err = rundir.ReadDetection(flags.scores); err != nil {
			return usage(err)
		}
	}
	var report reports.Report
	err = a.output(flags.out, flags.format == "eval", recording, func(w io.Writer) (err error) {
		report, err = a.writeReport(w, in, flags, start, scores)
		return err
	})
	if err != nil {
		return recordingError(ctx, err)
	}
	return quiet(exitCode(report))
}

// writeReport writes a recording in the format of the flags.
func (a *app) writeReport(w io.Writer, in *rundir.Recording, flags reportFlags, start time.Time, scores *reports.Detection,
) (reports.Report, error) {
	switch flags.format {
	case formatHTML:
		return in.WritePage(w, scores)
	case "inspect", "eval":
		return in.WriteInspect(w, start, flags.format == "eval")
	case "otlp":
		return in.WriteSpans(w, start)
	}
	report, err := in.Report()
	if err != nil {
		return report, err
	}
	switch flags.format {
	case "junit":
		return report, reports.JUnit(w, report)
	case "github":
		return report, reports.Annotations(w, report)
	case "gitlab":
		return report, reports.GitLab(w, report)
	}
	shown := runDocument(report, flags.detail, flags.failuresOnly)
	shown.Origin = append(in.Origin().Facts(), report.Run.Facts()...)
	return report, a.write(w, shown, flags.format)
}

// runDocument returns the report of a run as a document.
func runDocument(r reports.Report, detail detailFlags, failuresOnly bool) document {
	d, short := reports.Document(r, failuresOnly), reports.TerminalDocument(r, detail.level(), failuresOnly)
	d.Terminal = &short
	return document{d, r, r.Run.Tool}
}

// recordingError gives an error of reading a recording its exit code.
func recordingError(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return &exitError{exitInterrupted, fmt.Errorf("the recording was not read to its end: %w", cause)}
	}
	if errors.Is(err, record.ErrEmpty) || errors.Is(err, rundir.ErrEmpty) {
		return usage(err)
	}
	return noVerdict(err)
}

// reportExperiment renders the result of an experiment.
func (a *app) reportExperiment(path string, r *result.Experiment, flags reportFlags) error {
	formats := []string{formatTerminal, formatJSON, formatMarkdown, formatComment, formatHTML}
	if flags.verify || flags.requirements != "" || !slices.Contains(formats, flags.format) {
		return usage(fmt.Errorf("%s is an experiment, which has no recording; it has the formats terminal, json, markdown, comment and html",
			path))
	}
	err := a.output(flags.out, false, path, func(w io.Writer) error {
		shown := experimentDocument(r)
		shown.Origin = rundir.OriginOf(rundir.File(path, rundir.ExperimentFile)).Facts()
		return a.write(w, shown, flags.format)
	})
	if err != nil {
		return noVerdict(err)
	}
	verdict, _ := r.Judge("")
	if r.Tune != nil {
		verdict = r.JudgeSearch()
	}
	return quiet(experimentExit(r, verdict))
}

// reportExploration renders all runs of an exploration. An altered recording beside it fails.
func (a *app) reportExploration(ctx context.Context, path string, r *result.Exploration, flags reportFlags) error {
	from, altered, err := a.warnIfAltered(ctx, path)
	if err != nil {
		return err
	}
	err = a.output(flags.out, false, path, func(w io.Writer) error {
		shown := explorationDocument(r)
		shown.Origin = from.Facts()
		return a.write(w, shown, flags.format)
	})
	switch {
	case err != nil:
		return noVerdict(err)
	case altered:
		return quiet(exitFail)
	case r.Stopped == result.UserInterrupt:
		return quiet(exitInterrupted)
	}
	return quiet(gate.ExitCode([]gate.Verdict{r.Verdict()}))
}

// warnIfAltered verifies the recording beside an exploration, if there is one, and returns its origin.
func (a *app) warnIfAltered(ctx context.Context, path string) (from reports.Origin, altered bool, err error) {
	if filepath.Base(path) == rundir.ExplorationFile {
		path = filepath.Dir(path)
	}
	recording, err := rundir.FindRecording(path)
	if err != nil {
		return from, false, nil // the exploration is alone
	}
	in, err := rundir.OpenRecording(ctx, recording, a.language)
	if err != nil {
		return from, false, recordingError(ctx, err)
	}
	defer in.Close()
	problem, altered := in.Altered()
	if altered {
		fmt.Fprintf(a.stderr, "recording: %s was altered after the run: %s\n", recording, sanitize.Line(problem, 500))
	}
	return in.Origin(), altered, nil
}

// validate refuses flags that exclude each other.
func (f reportFlags) validate() error {
	switch {
	case f.scores != "" && f.format != "html":
		return errors.New("--scores adds to the page of --format html; see rehearse report --help")
	case f.key != "" && !f.verify:
		return errKeyWithoutVerify
	case f.out != "" && f.verify:
		return errors.New("--out is for reports; redirect the output of --verify")
	}
	return f.validateRequirements()
}

// startTime returns the time of --at.
func startTime(at string) (time.Time, error) {
	switch at {
	case "":
		return clock.Epoch, nil
	case "now":
		return time.Now().UTC(), nil
	}
	t, err := time.Parse(time.RFC3339, at)
	if err != nil {
		return t, fmt.Errorf("--at %q is not a time such as %s, nor now", at, clock.Epoch.Format(time.RFC3339))
	}
	return t.UTC(), nil
}
