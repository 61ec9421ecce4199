package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/internal/atomicdir"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
	"github.com/rehearse-dev/rehearse/internal/tty"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/doc"
)

// renderOptions are the options of the formats that have some.
type renderOptions struct {
	terminal     tty.Terminal
	failuresOnly bool
}

// renderer writes a report in one format.
type renderer func(io.Writer, reports.Report, renderOptions) error

var renderers = map[string]renderer{
	"terminal": func(w io.Writer, r reports.Report, o renderOptions) error {
		return doc.Terminal(w, reports.Document(r, o.failuresOnly), o.terminal)
	},
	"json":     func(w io.Writer, r reports.Report, _ renderOptions) error { return reports.JSON(w, r) },
	"junit":    func(w io.Writer, r reports.Report, _ renderOptions) error { return reports.JUnit(w, r) },
	"markdown": markdownOf(0),
	"github":   func(w io.Writer, r reports.Report, _ renderOptions) error { return reports.Annotations(w, r) },
	"comment":  markdownOf(commentBytes),
}

// commentBytes is below the limit of a comment on GitHub, which is 65,536 characters, and on
// GitLab.
const commentBytes = 65_000

// markdownOf renders Markdown with at most limit bytes; 0 is the default limit.
func markdownOf(limit int) renderer {
	return func(w io.Writer, r reports.Report, o renderOptions) error {
		return doc.Markdown(w, reports.Document(r, o.failuresOnly), limit)
	}
}

// reportFlags are the flags of report.
type reportFlags struct {
	format       string
	out          string
	at           string
	scores       string
	verify       bool
	failuresOnly bool
}

func (a *app) reportCommand() *cobra.Command {
	var flags reportFlags
	cmd := &cobra.Command{
		Use:   "report FOLDER|RECORDING",
		Short: "Render or verify a recording",
		Long: `report verifies a recording, judges it and renders the report. It starts no agent. If the hash
chain shows that a line was changed, removed, inserted or reordered, the report says so at its top
and the exit code is 1. A recording that breaks off is reported as far as it goes, and the exit code
is 3. Of the folder of an exploration the formats terminal, markdown and json show all runs, and the
others its recording: the golden path, and the smallest run of each failure. Of the folder of an
experiment the formats terminal, markdown, comment, json and html show its result.

For other programs: inspect and eval are logs of Inspect (https://inspect.aisi.org.uk), one JSON
object and its packed form; otlp is OpenTelemetry spans of the conventions for generative AI, a
line for each trial, which a collector takes at /v1/traces. A recording has no date: --at sets
when it began.

--verify only checks the chain of hashes, names the lines that were changed, removed or moved (the
first 100), and prints the last hash. The chain finds damage, not a forgery whose hashes were all
computed anew: keep the last hash elsewhere to prove that a recording is the original.

` + exitCodes,
		Example: `  rehearse report rehearse-runs/demo
  rehearse report rehearse-runs/demo --format markdown >> "$GITHUB_STEP_SUMMARY"
  rehearse report rehearse-runs/demo --format html --out demo.html
  rehearse report rehearse-runs/demo --format eval --out demo.eval
  rehearse report rehearse-runs/demo --verify`,
		Args: arguments(1, 1, "name the folder of one run, or one recording"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.report(cmd.Context(), args[0], flags) },
	}
	f := cmd.Flags()
	f.StringVar(&flags.format, "format", "terminal", "one of "+strings.Join(formatNames(), ", "))
	f.StringVarP(&flags.out, "out", "o", "", "write to this `file`, whole or not at all (default: standard output)")
	f.StringVar(&flags.at, "at", "", "when the run is said to have begun, for formats with dates: a `time`, or now (default "+clock.Epoch.Format(time.RFC3339)+")")
	f.StringVar(&flags.scores, "scores", "", "a `file` of rehearse detect --json, to be shown in the page (html)")
	f.BoolVar(&flags.verify, "verify", false, "check the recording's hashes")
	f.BoolVar(&flags.failuresOnly, "failures-only", false, "leave passing scenarios out of the table")
	_ = cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(formatNames(), cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func (a *app) report(ctx context.Context, path string, flags reportFlags) error {
	format, ok := formats()[flags.format]
	if !ok {
		return notAmong("format", flags.format, formatNames())
	}
	if err := flags.validate(); err != nil {
		return usage(err)
	}
	if ok, err := a.reportExperiment(path, flags); ok {
		return err
	}
	if !flags.verify {
		if ok, err := a.reportExploration(ctx, path, flags); ok {
			return err
		}
	}
	recording, err := findRecording(path)
	if err != nil {
		return usage(err)
	}
	if flags.verify {
		return a.verify(ctx, recording)
	}
	in, err := a.openRecording(recording, func() error { return context.Cause(ctx) })
	if err != nil {
		return noVerdict(err)
	}
	defer in.file.Close()
	in.options = renderOptions{terminal: tty.Of(a.stdout, a.getenv), failuresOnly: flags.failuresOnly}
	if in.start, err = startTime(flags.at); err != nil {
		return usage(err)
	}
	if in.scores, err = readScores(flags.scores); err != nil {
		return usage(err)
	}
	var report reports.Report
	err = a.output(flags.out, format, recording, func(w io.Writer) (err error) {
		report, err = format.write(w, in)
		return err
	})
	if err != nil {
		return noVerdict(err)
	}
	return quiet(exitCode(report))
}

// validate refuses flags that exclude each other.
func (f reportFlags) validate() error {
	switch {
	case f.scores != "" && f.format != "html":
		return errors.New("--scores adds to the page of --format html; see rehearse report --help")
	case f.out != "" && f.verify:
		return errors.New("--out is for reports; redirect the output of --verify")
	}
	return nil
}

// findRecording accepts a recording or the folder of a run. A partial recording
// is that of the last run, which was cut off, so it is preferred.
func findRecording(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", fmt.Errorf("find the recording: %w", err)
	}
	if !info.IsDir() {
		return path, nil
	}
	for _, name := range []string{recordingFile + atomicdir.Partial, recordingFile} {
		file := filepath.Join(path, name)
		if _, err := os.Stat(file); err == nil {
			return file, nil
		}
	}
	return "", fmt.Errorf("there is no %s in %s; name the folder of a run, or a recording", recordingFile, path)
}

// readTimings reads the timings beside a recording. Most recordings have none.
func readTimings(path string) ([]record.Timing, error) {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("open the timings: %w", err)
	}
	defer file.Close()
	return record.ReadTimings(file)
}

// timingsOf is the timings file that belongs to a recording.
func timingsOf(recording string) string { return beside(recording, timingsFile) }

// beside is the file of that name that belongs to a recording, partial if that is.
func beside(recording, name string) string {
	if strings.HasSuffix(recording, atomicdir.Partial) {
		name += atomicdir.Partial
	}
	return filepath.Join(filepath.Dir(recording), name)
}

func (a *app) verify(ctx context.Context, path string) error {
	file, err := os.Open(path)
	if err != nil {
		return usage(fmt.Errorf("open the recording: %w", err))
	}
	defer file.Close()
	in := recorded{over: func() error { return context.Cause(ctx) }}
	found, err := record.Verify(until{file, in.over})
	if err != nil {
		return noVerdict(in.explain(err))
	}
	for _, p := range found.Problems {
		fmt.Fprintln(a.stdout, sanitize.Line(p.String(), 500))
	}
	if found.More > 0 {
		fmt.Fprintf(a.stdout, "and %s\n", format.Plural(found.More, "more altered line"))
	}
	switch {
	case found.Altered:
		fmt.Fprintf(a.stdout, "%s was altered after the run\n", path)
		return quiet(exitFail)
	case len(found.Problems) > 0:
		fmt.Fprintf(a.stdout, "%s has no end\n", path)
		return quiet(exitFail)
	}
	fmt.Fprintf(a.stdout, "%s is intact: %s, last hash %s\n", path, format.Plural(found.Lines, "line"), found.Hash)
	return nil
}
